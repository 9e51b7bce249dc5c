"""Repairs on a page's source that parsers need: characters and references that stand for no character."""

import re

# No XML character, so lxml stops or skips there: controls, lone surrogates, non-characters.
CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
BREAKS = re.compile("[\x0b\x0c]")
CONTROL_BYTES = bytes({*range(0x20), 0x7F} - {ord("\t"), ord("\n"), ord("\r")})

# References to these, and to the C1 block, which pages mean as windows-1252. The whole number must match.
BAD_REFERENCE = re.compile(
    r"&#(?:0*([0-8]|1[1-24-9]|2\d|3[01]|12[789]|1[345]\d|5[5-7]\d{3}|6553[45]|\d{7,})(?!\d)"
    r"|[xX]0*([0-8bBcCeEfF]|1[0-9a-fA-F]|7[fF]|[89][0-9a-fA-F]|[dD][89a-fA-F][0-9a-fA-F]{2}|[fF]{3}[eEfF]"
    r"|[0-9a-fA-F]{6,})(?![0-9a-fA-F]));?"
)


def repaired(source: str) -> str:
    """The source without characters and character references that no parser can turn into text.

    References 128-159 become the windows-1252 characters that they are meant as (HTML standard, 13.2.5.80);
    null, control, surrogate and out-of-range ones go, and so do such characters themselves.
    """
    if "&#" in source:
        source = BAD_REFERENCE.sub(_reference, source)
    if _fit(source):
        return source
    return CONTROLS.sub("", BREAKS.sub(" ", source))


def _fit(source: str) -> bool:
    """Whether the source holds none of the characters that go; deleting bytes is far quicker than a pattern."""
    try:
        raw = source.encode()
    except UnicodeEncodeError:
        return False
    return len(raw.translate(None, CONTROL_BYTES)) == len(raw) and "\ufffe" not in source and "\uffff" not in source


def _reference(match: re.Match[str]) -> str:
    digits = match[1] or match[2]
    if len(digits) > 7:  # also spares int() a number of a million digits
        return ""
    number = int(digits, 10 if match[1] else 16)
    if 128 <= number <= 159:
        return bytes([number]).decode("cp1252", "ignore")
    if number in (11, 12):
        return " "
    good = 159 < number < 0xD800 or 0xE000 <= number < 0xFFFE or 0x10000 <= number <= 0x10FFFF
    return match[0] if good else ""


# Comments, scripts and styles are half of a page and nobody's text. Where they end in a rare way the parser is left to
# find out.
UNSEEN = re.compile(r"<(?:!--|(script|style)(?=[\s>/]))")
RARE_ENDS = ("</SCRIPT", "</STYLE", "--!>")


def without_scripts(source: str) -> str:
    """The source without what no parser shows: comments, scripts and styles."""
    if any(end in source for end in RARE_ENDS):
        return source
    parts: list[str] = []
    at = 0
    while (begin := UNSEEN.search(source, at)) is not None:
        if begin[1]:
            found = source.find(f"</{begin[1]}", begin.end())
            end = source.find(">", found) if found >= 0 else -1
        else:
            found = source.find("-->", begin.start() + 2)
            end = found + 2 if found >= 0 else -1
        if end < 0:
            break
        parts.append(source[at : begin.start()])
        at = end + 1
    parts.append(source[at:])
    return "".join(parts)
