"""The header of a WARC record: ISO 28500, versions 0.17 to 1.1, and the ways in which writers bend it."""

import re
from dataclasses import dataclass, field

MAX_HEADER_BYTES = 1 << 20
VERSION = re.compile(rb"WARC/\d+\.\d+[ \t]*\r?\n")
HEADER_END = re.compile(rb"\n\r?\n")
LENGTH = re.compile(rb"\nContent-Length[ \t]*:[ \t]*(\d{1,18})[ \t]*\r?\n", re.IGNORECASE)
# Fields by which a header is known even when its first line is broken.
MARKS = re.compile(rb"\nWARC-(?:Type|Record-ID|Date|Target-URI)[ \t]*:", re.IGNORECASE)
BLANK = b"\r\n"
# Types that are counted under their own name; any other is "other", so that a file can't invent totals.
TYPES = frozenset({"warcinfo", "request", "response", "resource", "conversion", "metadata", "revisit", "continuation"})


class BadRecord(ValueError):
    """A stretch of bytes that is no WARC record; the message is the cause in plain words."""


@dataclass(frozen=True, slots=True)
class WarcHeader:
    """The named fields of one record; `size` is the header's length in bytes with its closing blank line."""

    fields: dict[str, str] = field(repr=False)  # names in lower case; of repeated fields the first
    length: int  # Content-Length
    size: int

    def get(self, name: str, default: str = "") -> str:
        """The value of a field, its name in lower case."""
        return self.fields.get(name, default)

    @property
    def type(self) -> str:
        """WARC-Type in lower case, or "other"."""
        value = self.fields.get("warc-type", "").lower()
        return value if value in TYPES else "other"

    @property
    def url(self) -> str:
        """The target URI without the angle brackets that some writers put around it."""
        uri = self.fields.get("warc-target-uri", "").strip()
        return uri[1:].removesuffix(">").strip() if uri.startswith("<") else uri  # a `>` alone is the address's own


def parse_header(data: bytes, offset: int = 0) -> WarcHeader:
    """The header that starts at `offset`. Raises BadRecord with the cause."""
    version = VERSION.match(data, offset)
    if not version:
        raise BadRecord("no WARC header")
    end = HEADER_END.search(data, version.end() - 1, offset + MAX_HEADER_BYTES)
    if not end:
        raise BadRecord("the WARC header does not end")
    if data.find(b"\nWARC/", offset, end.start()) >= 0:
        raise BadRecord("the WARC header runs into another one")
    fields = parse_fields(data[version.end() : end.start() + 1])
    length = fields.get("content-length", "")
    if not (length.isascii() and length.isdigit() and len(length) <= 18):
        raise BadRecord("no Content-Length in the WARC header")
    if "warc-type" not in fields:
        raise BadRecord("no WARC-Type in the WARC header")
    return WarcHeader(fields, int(length), end.end() - offset)


def parse_fields(lines: bytes) -> dict[str, str]:
    """Named fields, names in lower case, folded lines joined. Bytes that are not UTF-8 are read as latin-1."""
    try:
        text = lines.decode("utf-8")
    except UnicodeDecodeError:
        text = lines.decode("latin-1")
    fields: dict[str, list[str]] = {}
    name = ""
    for line in text.split("\n"):
        if line[:1] in (" ", "\t") and name:
            fields[name] += " ", line.strip()
            continue
        key, colon, value = line.partition(":")
        if not colon:
            if "HTTP/" in line:
                raise BadRecord("the WARC header runs into the HTTP header")
            continue
        key = key.strip().lower()
        if key in fields:
            name = ""
            continue
        name = key
        fields[name] = [value.strip()]
    return {name: "".join(parts) for name, parts in fields.items()}
