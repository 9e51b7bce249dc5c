"""The tokenisations of published rule sets, where they are not plain white space.

Both are close readings of what those rule sets call, not the libraries themselves: `english_tokens` follows
the prefix, suffix and infix rules of spaCy's blank English pipeline (of its long list of abbreviations only
the common ones are here, of its emoticons none), `unicode_words` the word boundaries of Unicode TR 29.
"""

import re
import unicodedata
from functools import lru_cache

_QUOTES = "'\"”“`‘´’‚,„»«「」『』（）〔〕【】《》〈〉"
_MARKS = "…,:;!?¿¡()[]{}<>_#*&。？！，、；：～·।،۔؛٪"
_CURRENCY = "$£€¥฿₽₴₠₡₢₣₤₦₧₨₩₪₫₭₮₱₲₳₵₸₹₺"
_LETTER = "[^\\W\\d_]"


def _chars(*sets: str) -> str:
    return "[" + "".join(map(re.escape, "".join(sets))) + "]"


def _is_icon(char: str) -> bool:
    return unicodedata.category(char) == "So"


_PREFIX = re.compile(rf"§|%|=|—|–|\+(?![0-9])|\.\.+|{_chars(_MARKS, _QUOTES, _CURRENCY)}")
_SUFFIX = re.compile(
    rf"(?:\.\.+|'s|'S|’s|’S|—|–|{_chars(_MARKS, _QUOTES)}|(?<=[0-9])\+|(?<=[0-9]){_chars(_CURRENCY)}"
    rf"|(?<=[0-9])(?:km²?|cm²?|mm²?|dm²?|m²|ha|kg|mg|g|lb|oz|ml|mph|hPa|Pa|mbar|mb|MB|KB|kb|GB|gb|TB|tb|T|G|M|K|%)"
    rf"|(?<=[0-9a-zß-öø-ÿ%²\-+…)\]}}!?'\"”’»])\.|(?<=[A-Z][A-Z])\.)$"
)
_INFIX = re.compile(
    rf"\.\.+|…|(?<=[0-9])[+\-*^](?=[0-9-])|(?<=[a-zß-öø-ÿ'\"”’])\.(?=[A-Z'\"“‘])|(?<={_LETTER}),(?={_LETTER})"
    rf"|(?<=[^\W_])(?:---|--|——|-|–|—|~)(?={_LETTER})|(?<=[^\W_])[:<>=/](?={_LETTER})"
)
_URL = re.compile(
    r"(?:(?:https?|ftp)://)?(?:[\w-]+\.)+(?:com|org|net|edu|gov|io|uk|de|fr|info|co|us|eu|ru|jp|ca|au)"
    r"(?::\d+)?(?:[/?#]\S*)?(?<![,;.!?)\]'\"])|(?:https?|ftp)://\S+(?<![,;.!?)\]'\"])|[\w.+-]+@[\w-]+(?:\.[\w-]+)+",
    re.IGNORECASE,
)
_CONTRACTION = re.compile(r"(?i)(?P<verb>\w+)(?P<not>n['’]t)|(?P<word>\w+)(?P<rest>['’](?:ll|ve|re|d|m))")
_ABBREVIATION = re.compile(
    r"(?:Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|Co|Corp|Inc|Ltd|Bros|Gen|Gov|Rep|Rev|Sen|Messrs|Mt|Ph\.D|e\.g|i\.e|E\.g|I\.e|vs|v\.s"
    r"|a\.m|p\.m|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec|etc|[A-Za-z])\."
)


def _affix(chunk: str, pattern: re.Pattern[str], end: bool) -> str:
    """The prefix or suffix to cut off, or nothing."""
    found = pattern.search(chunk) if end else pattern.match(chunk)
    if found:
        return found.group()
    edge = chunk[-1] if end else chunk[0]
    return edge if _is_icon(edge) else ""


LONGEST_CHUNK = 300  # the rules take time that grows with the square of a piece's length
_WORD_OR_MARK = re.compile(r"\w+|[^\w\s]")


def _long_chunk_tokens(chunk: str) -> list[str]:
    """Tokens of a piece too long for the rules: itself where it is a URL, else its words and marks."""
    return [chunk] if _URL.fullmatch(chunk) else _WORD_OR_MARK.findall(chunk)


@lru_cache(maxsize=1 << 16)
def _chunk_tokens(chunk: str) -> tuple[str, ...]:
    """Tokens of one piece without white space."""
    before: list[str] = []
    after: list[str] = []
    while chunk and not _ABBREVIATION.fullmatch(chunk):
        contraction = _CONTRACTION.fullmatch(chunk)
        if contraction:
            parts = [part for part in contraction.groups() if part]
            return (*before, *parts, *reversed(after))
        if _URL.fullmatch(chunk):
            break
        prefix = _affix(chunk, _PREFIX, end=False)
        if prefix:
            before.append(prefix)
            chunk = chunk[len(prefix) :]
            continue
        suffix = _affix(chunk, _SUFFIX, end=True)
        if not suffix:
            return (*before, *_split_inside(chunk), *reversed(after))
        after.append(suffix)
        chunk = chunk[: -len(suffix)]
    return (*before, *([chunk] if chunk else []), *reversed(after))


def _split_inside(chunk: str) -> list[str]:
    parts, start = [], 0
    for found in _INFIX.finditer(chunk):
        if found.start() > start:
            parts.append(chunk[start : found.start()])
        parts.append(found.group())
        start = found.end()
    if start < len(chunk):
        parts.append(chunk[start:])
    return parts


def english_tokens(text: str) -> list[str]:
    """Words and punctuation marks of an English text, each mark a token of its own."""
    tokens: list[str] = []
    for chunk in text.split():
        tokens.extend(_chunk_tokens(chunk) if len(chunk) <= LONGEST_CHUNK else _long_chunk_tokens(chunk))
    return tokens


# Written without spaces; each character is a word in TR 29: ideographs, hiragana, Thai, Lao, Burmese, Khmer.
UNSPACED = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3041-\u3096\u309d-\u309f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0eff\u1000-\u109f\u1780-\u17ff\U00020000-\U0003ffff"
)


@lru_cache(maxsize=1)
def _unicode_word() -> re.Pattern[str]:
    marks = "".join(c for c in map(chr, range(0x300, 0x10000)) if unicodedata.category(c) in ("Mn", "Me", "Mc", "Cf"))
    extend = f"[{re.escape(marks)}]*"
    unit = f"(?:(?![{UNSPACED}])\\w{extend})"
    middle = r"(?:(?<=[^\W\d_])[:·.‧'’․](?=[^\W\d_])|(?<=\d)[,;.'](?=\d))"
    return re.compile(f"[{UNSPACED}]{extend}|{unit}(?:{unit}|{middle})*")


def unicode_words(text: str) -> list[str]:
    """Words by Unicode TR 29 that start with a letter or digit; punctuation and white space are no words."""
    return [word for word in _unicode_word().findall(text) if word[0].isalnum()]
