"""A folder of HTML pages as one WARC file, since that is what many people have."""

import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from urllib.parse import quote

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from curate.durable import atomic
from curate.errors import UserError, cause

PAGES = {".html", ".htm", ".xhtml"}
OK, HTML = "200 OK", "text/html"


@dataclass(frozen=True)
class PackedPages:
    """What went into a WARC file: pages, those of them that --urls did not name, and other files, left out."""

    pages: int
    unnamed: int
    left_out: int


def pack(folder: Path, target: Path, urls: Mapping[str, str] | None = None) -> PackedPages:
    """Writes every page below a folder, by the byte order of their paths.

    `urls` names pages' URLs by their paths in the folder: those become responses with status 200. A page without is the
    resource file:///PATH. The same files make the
    same bytes: a record's date is the file's time of change, its name a hash of URL and content.
    Raises UserError where there is no page, a file can't be read, or `urls` names one that is not there.
    """
    if not folder.is_dir():
        raise UserError(f"{folder}: is no folder; give the folder that holds the pages")
    files = sorted((path for path in folder.rglob("*") if path.is_file()), key=lambda path: bytes(path))
    pages = {path.relative_to(folder).as_posix(): path for path in files if path.suffix.lower() in PAGES}
    if not pages:
        raise UserError(
            f"{folder}: holds no page (a file that ends in {', '.join(sorted(PAGES))}); give another folder"
        )
    named = urls or {}
    for name in named:
        if name not in pages:
            raise UserError(f"{folder}: holds no page '{name}', which the list of URLs names; mend the list")
    with atomic(target) as temporary, temporary.open("wb") as out:
        writer = WARCWriter(out, gzip=not target.name.endswith(".warc"))
        for name, path in pages.items():
            _write(writer, named.get(name) or f"file:///{quote(name)}", path)
    return PackedPages(len(pages), sum(name not in named for name in pages) if named else 0, len(files) - len(pages))


def _write(writer: WARCWriter, url: str, path: Path) -> None:
    try:
        content, changed = path.read_bytes(), path.stat().st_mtime
    except OSError as error:
        raise UserError(f"{path}: can't be read ({cause(error)}); make it readable, or move it away") from None
    name = uuid.uuid5(uuid.NAMESPACE_URL, f"{url} {uuid.uuid5(uuid.NAMESPACE_OID, content.hex())}")
    fetched = url.startswith(("http://", "https://"))  # readers look for an HTTP header behind such a URL alone
    headers = [("Content-Type", HTML), ("Content-Length", str(len(content)))]
    record = writer.create_warc_record(
        url,
        "response" if fetched else "resource",
        payload=BytesIO(content),
        length=len(content),
        warc_content_type="" if fetched else HTML,
        http_headers=StatusAndHeaders(OK, headers, protocol="HTTP/1.1") if fetched else None,
        warc_headers_dict={
            "WARC-Date": datetime.fromtimestamp(int(changed), UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "WARC-Record-ID": f"<urn:uuid:{name}>",
        },
    )
    writer.write_record(record)


def read_urls(path: Path) -> dict[str, str]:
    """A list of file and URL, tab-separated, one page a line. Raises UserError with the line that is none."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: can't be read ({cause(error)}); give a TSV of file and URL") from None
    return dict(_rows(path, lines))


def _rows(path: Path, lines: list[str]) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        file, _, url = (part.strip() for part in line.partition("\t"))
        if not file or "://" not in url:
            raise UserError(
                f"{path}:{number}: must be a file, a tab and its URL, such as a/b.html<tab>https://a.example/b"
            )
        yield file.removeprefix("./"), url
