"""From a page's bytes to its text: byte order mark, HTTP header, meta element, detection, in this order.

Labels and their meaning are those of the WHATWG Encoding Standard, section 4.2 (`latin1` means windows-1252,
`gb2312` means gb18030). A declaration that the bytes contradict falls through to the next candidate.
"""

import codecs
import re
from collections.abc import Iterator

import chardet

# WHATWG name -> Python codec that comes nearest to it.
CODECS = {
    "utf-8": "utf-8",
    "utf-16le": "utf-16-le",
    "utf-16be": "utf-16-be",
    "ibm866": "cp866",
    "koi8-r": "koi8-r",
    "koi8-u": "koi8-u",
    "macintosh": "mac-roman",
    "x-mac-cyrillic": "mac-cyrillic",
    "windows-874": "cp874",
    "gb18030": "gb18030",
    "big5": "big5hkscs",
    "euc-jp": "euc_jp",
    "iso-2022-jp": "iso2022_jp_ext",
    "shift_jis": "cp932",
    "euc-kr": "cp949",
    "hz-gb-2312": "hz",
    "iso-2022-kr": "iso2022_kr",
    **{f"iso-8859-{n}": f"iso8859-{n}" for n in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)},
    **{f"windows-{n}": f"cp{n}" for n in range(1250, 1259)},
}

# Labels for which WHATWG and Python's own aliases differ, or that Python does not know.
LABELS = {
    "windows-1252": "ansi_x3.4-1968 ascii cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 "
    "iso_8859-1 iso_8859-1:1987 l1 latin1 latin-1 latin_1 us-ascii x-cp1252 x-ansi ansi",
    "windows-1254": "csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 "
    "l5 latin5 x-cp1254 cp1254 win-1254 win1254",
    "windows-874": "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 tis620",
    "gb18030": "chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk cp936 gb18030",
    "big5": "big5 big5-hkscs cn-big5 csbig5 x-x-big5",
    "euc-kr": "cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 "
    "windows-949 uhc ms949",
    "euc-jp": "cseucpkdfmtjapanese euc-jp x-euc-jp eucjp",
    "shift_jis": "csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis",
    "utf-8": "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8 utf8mb4",
    "utf-16le": "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le utf16",
    "utf-16be": "unicodefffe utf-16be",
    "iso-8859-8": "csiso88598e csiso88598i iso-8859-8-e iso-8859-8-i logical visual hebrew",
    "koi8-r": "cskoi8r koi koi8 koi8_r",
    "koi8-u": "koi8-ru",
    "macintosh": "csmacintosh mac x-mac-roman",
    "x-mac-cyrillic": "x-mac-cyrillic x-mac-ukrainian",
    **{f"windows-{n}": f"x-cp{n} cp{n} win-{n} win{n} windows{n}" for n in range(1250, 1259) if n not in (1252, 1254)},
}
NAMES = {label: name for name, labels in LABELS.items() for label in labels.split()}
NAMES |= {name: name for name in CODECS}
BY_CODEC = {codecs.lookup(codec).name: name for name, codec in CODECS.items()}

BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16le"), (b"\xfe\xff", "utf-16be"))
META_BYTES = 4096  # browsers look through 1,024 bytes; pages with long comments in front declare later
META = re.compile(rb"<meta[\s/]([^>]*)>|<\?xml\s([^>]*)>", re.IGNORECASE)
CHARSET = re.compile(rb"""charset\s*+=\s*+(?:["']\s*+)?([\w.:+-]+)""", re.IGNORECASE)
OWN_CHARSET = re.compile(rb"""(?:^|[\s"'/])charset\s*+=\s*+(?:["']\s*+)?([\w.:+-]+)""", re.IGNORECASE)
XML_ENCODING = re.compile(rb"""\bencoding\s*=\s*["']([\w.:+-]+)""")
COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
HIGH_RUN = re.compile(rb"[\x80-\x9f\xa1-\xff]{6,}")
LETTER_RUN = re.compile(rb"[\xc0-\xff]{4,}")  # words in the Cyrillic, Greek and Hebrew code pages
SURROGATES = re.compile(rb"\xed[\xa0-\xaf][\x80-\xbf]\xed[\xb0-\xbf][\x80-\xbf]|\xed[\xa0-\xbf][\x80-\xbf]")
HIGH = bytes([*range(0x80, 0xA0), *range(0xA1, 0x100)])
WESTERN = frozenset({"windows-1252", "windows-1254", "windows-1250", "windows-1257", "macintosh"}) | {
    f"iso-8859-{n}" for n in (2, 3, 4, 10, 13, 14, 15, 16)
}
ESCAPES = ((b"\x1b$B", "iso-2022-jp"), (b"\x1b$@", "iso-2022-jp"), (b"\x1b$)C", "iso-2022-kr"))
# What pages were written in; the detector also knows what mainframes and DOS had.
DETECTED = {"euc_jis_2004": "euc-jp"} | {
    codec: name for name, codec in CODECS.items() if name != "euc-jp" and not name.startswith("utf-16")
}
FEW_BROKEN = 16  # so few broken characters spoil no text
# Quotation marks, dashes and the like of windows-1252, and ASCII.
SIGNS = bytes(range(0x80)) + (
    b"\x80\x82\x84\x85\x86\x87\x89\x8b\x91\x92\x93\x94\x95\x96\x97\x99\x9b\xa0\xa7\xa9\xab\xae\xb0\xb7\xbb"
)
# Of texts in twelve languages that are not written in Latin letters none with so many bytes beyond ASCII gets so little
# from the detector, and random bytes no more (tuning half of bench/charsets.py).
LEAST_CONFIDENCE, ENOUGH_HIGH_BYTES = 0.05, 100
BAD_SHARE = 20  # a declared multi-byte encoding holds while at most 1 character in 20 beyond ASCII is broken


def whatwg_name(label: str) -> str | None:
    """The WHATWG name of an encoding label in any spelling; None for labels that nobody should decode."""
    label = label.strip(" \t\r\n\f\"';,").lower()
    if label in NAMES:
        return NAMES[label]
    try:
        return BY_CODEC.get(codecs.lookup(label).name)
    except (LookupError, ValueError):  # ValueError: a NUL inside the label
        return None


def decode(html: bytes, declared: str | None = None) -> tuple[str, str]:
    """The page's text and the WHATWG name of the encoding it was read with. Never raises.

    `declared` is the charset of the HTTP header. Bytes that no candidate fits are read with the first
    one, broken characters as U+FFFD.
    """
    for mark, name in BOMS:
        if html.startswith(mark):
            return _decode(html[len(mark) :], name), name
    wide = _wide(html) or _escaped(html)
    if wide:
        return _decode(html, wide), wide
    if not html.isascii():
        try:  # text beyond ASCII that is valid UTF-8 by chance is far rarer than a wrong header
            return html.decode("utf-8"), "utf-8"
        except UnicodeDecodeError:
            pass
    first: str | None = None
    for name in _candidates(html, declared):
        text = _plausible(html, name)
        if text is not None:
            return text, name
        first = first or name
    name = first or "windows-1252"
    return _decode(html, name), name


def broken_share(html: bytes, declared: str | None = None) -> float:
    """The share of U+FFFD among the characters beyond ASCII that `decode` makes; 0 where they are fewer than 16, or
    the bytes are UTF-8."""
    if html.isascii():
        return 0.0
    try:
        html.decode("utf-8")
    except UnicodeDecodeError:
        text, _ = decode(html, declared)
        beyond = len(text) - len(text.encode("ascii", "ignore"))
        written = html.count(b"\xef\xbf\xbd")  # by the page's own hand
        broken = text.count("\ufffd") - written
        return broken / beyond if broken >= FEW_BROKEN else 0.0
    return 0.0


def _escaped(html: bytes) -> str | None:
    """ISO-2022-JP and ISO-2022-KR, which are ASCII but for the escapes that begin their characters (RFC 1468, 1557)."""
    if b"\x1b" not in html or not html.isascii():  # one byte is looked for twenty times as fast as three
        return None
    for mark, name in ESCAPES:
        if mark in html:
            try:
                html.decode(CODECS[name])
            except UnicodeDecodeError:
                continue
            return name
    return None


def _candidates(html: bytes, declared: str | None) -> Iterator[str]:
    """Names to be tried, the strongest evidence first."""
    name = whatwg_name(declared) if declared else None
    if name:
        yield name
    name = _meta(html)
    if name:
        yield name
    yield "utf-8"
    if not html.isascii() or b"\x1b" in html:
        yield _detected(html)
        yield "windows-1252"


def _wide(html: bytes) -> str | None:
    """UTF-16 without a byte order mark: markup makes every other byte NUL."""
    head = html[:1024]
    half = len(head) // 2
    if half < 4 or b"\0" not in head:
        return None
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if odd * 5 >= half * 2 and even * 20 <= half:
        return "utf-16le"
    if even * 5 >= half * 2 and odd * 20 <= half:
        return "utf-16be"
    return None


def _meta(html: bytes) -> str | None:
    """What the page says of itself. UTF-16 there means UTF-8: the words could be read as ASCII."""
    for meta, xml in META.findall(COMMENT.sub(b"", html[:META_BYTES])):
        pragma = b"http-equiv" in meta.lower()
        label = XML_ENCODING.search(xml) if xml else (CHARSET if pragma else OWN_CHARSET).search(meta)
        name = whatwg_name(label[1].decode("ascii", "replace")) if label else None
        if name:
            return "utf-8" if name.startswith("utf-16") else name
    return None


def _detected(html: bytes) -> str:
    """What the detector says, unless the bytes say nothing: signs alone, which are windows-1252's, or mere noise."""
    if not html.translate(None, SIGNS):
        return "windows-1252"
    found = chardet.detect(html, compat_names=False, include_encodings=DETECTED)
    name = DETECTED.get(found["encoding"] or "", "windows-1252")
    noise = name not in WESTERN and found["confidence"] < LEAST_CONFIDENCE and _high(html) >= ENOUGH_HIGH_BYTES
    return "windows-1252" if noise else name


def _high(html: bytes) -> int:
    """Bytes beyond ASCII, those of a no-break space not counted: it comes in long runs."""
    return len(html) - len(html.translate(None, HIGH))


def _plausible(html: bytes, name: str) -> str | None:
    """The decoded text, or None where the bytes contradict the encoding."""
    if name.startswith("utf-16"):
        return _decode(html, name) if html.count(b"\0", 0, 4096) * 10 >= min(len(html), 4096) else None
    if name in WESTERN:
        # No language in Latin letters writes most of its letters beyond ASCII side by side.
        runs = max(sum(map(len, pattern.findall(html))) for pattern in (HIGH_RUN, LETTER_RUN))
        return None if runs and runs * 2 > _high(html) else _decode(html, name)
    text = _decode(html, name)
    bad = text.count("\ufffd")
    if not bad:
        return text
    beyond = len(text) - len(text.encode("ascii", "ignore"))
    if name == "utf-8":
        bad -= _joined(html).count(b"\xef\xbf\xbd")  # written as such or half a pair, not broken here
        return text if bad * 2 <= beyond else None  # other encodings hardly ever form whole UTF-8 sequences
    return text if bad * BAD_SHARE <= beyond else None


def _decode(html: bytes, name: str) -> str:
    codec = CODECS[name]
    try:
        return html.decode(codec)
    except UnicodeDecodeError:
        pass
    if name == "utf-8":
        return _joined(html).decode(codec, "replace")
    if name.startswith("windows-") or name in WESTERN:
        return html.decode(codec, "curate_c1")
    return html.decode(codec, "replace")


def _joined(html: bytes) -> bytes:
    """UTF-8 in which a writer coded UTF-16 surrogates one by one: pairs are joined, single ones become U+FFFD."""
    return SURROGATES.sub(_character, html)


def _character(coded: re.Match[bytes]) -> bytes:
    units = coded[0].decode("utf-8", "surrogatepass").encode("utf-16-le", "surrogatepass")
    return units.decode("utf-16-le", "replace").encode()


def _c1(error: UnicodeError) -> tuple[str, int]:
    """Bytes that a windows code page leaves open are the C1 controls of the same number (WHATWG index)."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return "".join(map(chr, error.object[error.start : error.end])), error.end


codecs.register_error("curate_c1", _c1)
