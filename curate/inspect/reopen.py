"""Reads one record of a run's input again, where it still is."""

import re
from collections.abc import Mapping
from html import unescape
from pathlib import Path

from curate.config.file import sources_of
from curate.document import Document
from curate.errors import printable
from curate.inspect.opened import OpenedRun
from curate.sources import SourceConfig, reader, size_now
from curate.sources.charset import decode
from curate.sources.reader import InputFile, Slice

TITLE = re.compile(r"<title[^>]*>(.*?)</title", re.IGNORECASE | re.DOTALL)
HEAD = 200_000  # bytes of a page in which a title is looked for


class Gone(Exception):
    """The input is not where the run read it, or not the same; the message says which."""


class Reopened:
    """The input of a run."""

    def __init__(self, run: OpenedRun) -> None:
        self.run = run
        self.sources: Mapping[str, SourceConfig] = sources_of(run.manifest["config"]["input"])
        self.sizes = {name: size for _, name, size in run.manifest["inputs"]}

    def document(self, file: str, offset: int) -> Document:
        """The page at an address, with its body. Raises Gone."""
        size = self._size(file)
        source = self.run.files[file]
        listed = InputFile(source, file, size, "")
        for span in reader(self.sources[source], listed).read(listed, Slice(offset, offset + 1)):
            if span.offset == offset and (found := span.settled().document) is not None:
                return found
            if span.offset >= offset:
                break
        raise Gone(f"{file} holds no page at {offset} any more")

    def _size(self, file: str) -> int:
        """The file's size, if it is still that of the run; remote files are taken on trust."""
        size = int(self.sizes[file])
        if "://" not in file:
            try:
                now = size_now(file)
            except OSError:
                where = "" if Path(file).is_absolute() else " from this folder"
                raise Gone(f"the input {file} is not to be found{where}") from None
            if now != size:
                raise Gone(f"the input {file} has {now:,} bytes now, {size:,} when the run read it")
        return size


def title(doc: Document) -> str | None:
    """The title of a page's HTML in one line, or None."""
    if doc.html is None:
        return None
    match = TITLE.search(decode(doc.html[:HEAD], doc.charset)[0])
    return " ".join(unescape(match.group(1)).split()) or None if match else None


def text_by_belt(run: OpenedRun, doc: Document, stage: str | None) -> str:
    """The text that a page had when `stage` dropped it (None: at the end of the belt), made again."""
    from curate.belt import Belt

    text = doc.text
    for step in Belt.of(run.config).steps(doc):
        text = step.doc.text
        if step.drop or step.stage == stage:
            break
    return text


def plain(text: str) -> str:
    """A text in one line, fit for a terminal."""
    return printable(" ".join(text.split()))
