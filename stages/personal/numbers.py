"""Account and card numbers by their check digits, and telephone numbers by their form."""

import re
from collections.abc import Iterator

from stages.personal.span import PersonalSpan, is_reference, links

# Characters of an IBAN by country (ISO 13616 registry).
_IBAN_LENGTHS = {
    code: int(length)
    for length, codes in (
        entry.split(":")
        for entry in (
            "15:NO 16:BE 18:DK,FI,FK,FO,GL,NL,SD 19:MK,SI 20:AT,BA,EE,KZ,LT,LU,MN,XK 21:CH,HR,LI,LV 22:BG,BH,CR,DE,GB,"
            "GE,IE,ME,RS,VA 23:AE,GI,IL,IQ,OM,SO,TL 24:AD,CZ,ES,MD,PK,RO,SA,SE,SK,TN,VG 25:LY,PT,ST 26:IS,TR 27:BI,DJ,"
            "FR,GR,IT,MC,MR,SM 28:AL,AZ,BY,CY,DO,GT,HU,LB,NI,PL,SV 29:BR,EG,PS,QA,UA 30:JO,KW,MU,YE 31:MT,SC 32:LC "
            "33:RU"
        ).split()
    )
    for code in codes.split(",")
}
_IBAN = re.compile(r"(?<![A-Za-z0-9])([A-Z]{2})[0-9]{2}(?:[ -]?[A-Z0-9]){11,29}+(?![a-z])")
_CARD = re.compile(
    r"(?<![\w.,/-])(?:\d{4}(?P<a>[ -])\d{4}(?P=a)\d{4}(?P=a)\d{4}|\d{4}(?P<b>[ -])\d{6}(?P=b)\d{4,5}|\d{13,19})"
    r"(?![\w/-]|[.,]\d)"
)
# Issuer prefixes with their lengths (ISO/IEC 7812; ranges as the issuers publish them).
_ISSUERS = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})|(?:5[1-5]\d{2}|222[1-9]|22[3-9]\d|2[3-6]\d{2}|27[01]\d|2720)\d{12}|3[47]\d{13}"
    r"|(?:6011|64[4-9]\d|65\d{2}|62\d{2}|35(?:2[89]|[3-8]\d))\d{12,15}|3(?:0[0-5]\d|095|6\d\d|[89]\d\d)\d{10}"
)
_LUHN = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)  # digits doubled, their own digits added

# Calling codes of one, two and three digits (ITU-T E.164).
_CALLING_CODES = re.compile(
    r"[17]|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|2[1-69]\d|3[578]\d|42\d|5[09]\d|6[789]\d|8[058]\d|9[67]\d|99[2-68]"
)
_GAP = r"[ \u00a0.\-/]"
_EDGE, _END = r"(?<![\w.+@/=-])(?<!\d[ ,/])", r"(?![\w@]|[.\-/,]\d)"
_INTERNATIONAL = re.compile(
    rf"(?<![\w+.@/=-])(?:\+|00)(?=[1-9])(?:{_GAP}?(?:\(0?\)|\(\d{{1,5}}\)){_GAP}?|{_GAP}?\d){{7,18}}{_END}"
)
_AMERICAN = re.compile(
    rf"{_EDGE}(?:1[ .-])?(?:\([2-9]\d\d\) ?|[2-9]\d\d(?P<gap>[ .-]))[2-9]\d\d(?(gap)(?P=gap)|[ .-])\d{{4}}{_END}"
)
_TRUNK = re.compile(
    rf"{_EDGE}(?:\(0\d{{1,5}}\)|0[1-9]\d{{0,4}})(?:{_GAP}| [/–-] )(?:\d{{2,8}}{_GAP}){{0,4}}\d{{2,8}}{_END}"
)
_CUE = re.compile(
    r"\b(?:tel|telephone|phone|ph|call|fax|mobile|mob|cell|whatsapp|hotline|telefon|tél|téléphone|teléfono|telefono|"
    r"handy|тел|телефон|电话|電話|전화)(?:\.|\b)[ .:：#=-]{0,4}"
    r"(?P<number>\(?\+?\d(?:[ \u00a0.\-/()]{0,2}\d){6,14})(?![\w@])",
    re.IGNORECASE,
)
_DATE = re.compile(
    r"(?:0?[1-9]|[12]\d|3[01])([./ -])(?:0?[1-9]|1[0-2])\1(?:19|20)\d\d|(?:19|20)\d\d([./ -])\d\d\2\d\d.*"
)


def _digits(text: str) -> str:
    return "".join(filter(str.isdigit, text))


def ibans(text: str) -> Iterator[PersonalSpan]:
    """IBANs of the right length for their country whose check digits agree (ISO 7064, mod 97-10)."""
    for found in _IBAN.finditer(text):
        length, kept, end = _IBAN_LENGTHS.get(found[1], 0), 0, found.start()
        while kept < length and end < found.end():
            kept += text[end].isalnum()
            end += 1
        value = found[0][: end - found.start()].replace(" ", "").replace("-", "")
        complete = kept == length and length and not text[end : end + 1].isalnum()
        if complete and int("".join(str(int(letter, 36)) for letter in value[4:] + value[:4])) % 97 == 1:
            yield PersonalSpan(found.start(), end, "iban", value)


def is_luhn(digits: str) -> bool:
    """Whether the last digit is the check digit of the others (ISO/IEC 7812, annex B)."""
    return sum(_LUHN[int(d)] if place % 2 else int(d) for place, d in enumerate(reversed(digits))) % 10 == 0


def cards(text: str) -> Iterator[PersonalSpan]:
    """Payment card numbers: an issuer's prefix and length, a right check digit, not within a link."""
    for found in _CARD.finditer(text):
        digits = _digits(found[0])
        if _ISSUERS.fullmatch(digits) and is_luhn(digits) and not is_reference(text, found.start()):
            yield PersonalSpan(*found.span(), "card", digits)


def phones(text: str) -> Iterator[PersonalSpan]:
    """Telephone numbers: with a calling code, in American groups, with a trunk 0, or behind a word such as "tel"."""
    for found in _INTERNATIONAL.finditer(text):
        digits = _digits(found[0].replace("(0)", "")).removeprefix("00")
        if 8 <= len(digits) <= 15 and _CALLING_CODES.match(digits):
            yield PersonalSpan(*found.span(), "phone", digits)
    for found in _AMERICAN.finditer(text):
        if not is_reference(text, found.start()):
            yield PersonalSpan(*found.span(), "phone", _digits(found[0]))
    for found in _TRUNK.finditer(text):
        digits = _digits(found[0])
        if 9 <= len(digits) <= 12 and not _DATE.fullmatch(found[0]) and not is_reference(text, found.start()):
            yield PersonalSpan(*found.span(), "phone", digits)
    for found in _CUE.finditer(text):
        if not _DATE.fullmatch(found["number"]):
            yield PersonalSpan(*found.span("number"), "phone", _digits(found["number"]))


def outside_links(spans: Iterator[PersonalSpan], text: str) -> list[PersonalSpan]:
    """Those that no link holds: the digits of a link are its own."""
    within = links(text)
    return [span for span in spans if not any(start <= span.start < end for start, end in within)]
