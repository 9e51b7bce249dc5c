"""JSON Lines: one JSON object a line; plain (cut at lines), or as one .gz or .zst stream."""

import json
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import pyarrow as pa

from curate.document import Address, Document, Drop
from curate.sources.columns import Notes, Unfit, column_types, has_text, held, loads, renamed
from curate.sources.dates import given_date, given_date_column, utc
from curate.sources.members.json_values import are_lines, json_values
from curate.sources.members.lines import Line, next_line, text_layout
from curate.sources.members.window import Window
from curate.sources.reader import InputFile, Slice, Span
from curate.sources.reading import byte_size, byte_slices, open_input, or_damage, window_on
from curate.sources.settings import SourceConfig
from curate.text import clean


@dataclass(frozen=True)
class JsonlReader:
    """Reads .jsonl, .ndjson and .json files of one object a line. Offsets count bytes of the decompressed stream."""

    config: SourceConfig
    file: InputFile | None = None

    suffixes: ClassVar[tuple[str, ...]] = (".jsonl", ".ndjson", ".json")
    pages: ClassVar[bool] = False
    records: ClassVar[bool] = False

    @cached_property
    def columns(self) -> Mapping[str, pa.DataType]:
        """The carried columns with their types: declared, or inferred from the heads of the source's files."""
        has_text(self.config)
        return {**self._carried, **given_date_column(self.config)}

    @cached_property
    def _carried(self) -> Mapping[str, pa.DataType]:
        return column_types(self.config)

    def slices(self, file: InputFile, slice_bytes: int) -> list[Slice]:
        """Parts of `slice_bytes` of a plain file; a compressed one is one part."""
        return byte_slices(file, self.config, slice_bytes, _is_divisible)

    def size(self, file: InputFile) -> int | None:
        """Bytes of a plain file; None for a compressed one."""
        return byte_size(file, self.config, lambda window: text_layout(window) is None)

    def read(self, file: InputFile, part: Slice) -> Iterator[Span]:
        """One span a line; blank lines are padding. What can't be read is one damaged span. Raises SourceError."""
        return or_damage(file, part, self._spans(file, part))

    def _spans(self, file: InputFile, part: Slice) -> Iterator[Span]:
        with closing(open_input(file.path, self.config)) as source:
            window = window_on(source)
            codec = text_layout(window)
            start = part.start if part.exact or codec else next_line(window, part.start)
            none = True
            for line in json_values(window, codec, start, self.config.max_record_bytes):
                if part.end is not None and line.offset >= part.end:
                    break
                none = False
                yield self._span(file, line)
            if none:
                yield Span(start, 0, "padding")

    def _span(self, file: InputFile, line: Line) -> Span:
        place = (line.offset, line.length)
        if line.fault:
            return Span(*place, "damaged", drop=Drop("damaged", cause=line.fault))
        address = Address(file.source, file.name, line.offset)
        bare = Document(address, id=f"{file.name}#{line.offset}")
        if line.too_large:
            drop = Drop("too_large", line.length, self.config.max_record_bytes)
            return Span(*place, "line", document=bare, drop=drop)
        data = line.data.removeprefix(BOM_UTF8)
        if not data.strip():
            return Span(*place, "padding")
        try:
            return self._value(place, bare, loads(data.decode("utf-8")))
        except UnicodeDecodeError as error:
            drop = Drop("undecodable", cause=f"not UTF-8 at byte {error.start} of the line")
            return Span(*place, "line", document=bare, drop=drop)
        except (ValueError, RecursionError) as error:
            return Span(*place, "damaged", drop=Drop("damaged", cause=str(error)))

    def _value(self, place: tuple[int, int], bare: Document, value: Any) -> Span:
        """The span of one object. Raises ValueError with the cause of damage."""
        config = self.config
        if not isinstance(value, dict):
            raise Unfit("the line is no JSON object")
        value = renamed(config, value)
        carried, notes = held(config, self._carried, value)
        given = _words(value, config.own["date"])
        document = Document(
            address=bare.address,
            id=_words(value, config.own["id"]) or bare.id,
            url=_words(value, config.own["url"]),
            date=utc(given),
            attributes={**carried, **given_date(config, given)},
        )
        text = value.get(config.text)
        if not isinstance(text, str):
            drop = Drop("not_text", cause=f"no text in column '{config.text}'")
            return Span(*place, "line", document, drop, notes)
        return Span(*place, "line", document, notes=notes, settle=lambda: _with_text(place, document, text, notes))


def _with_text(place: tuple[int, int], document: Document, text: str, notes: Notes) -> Span:
    return Span(*place, "line", document.with_text(clean(text)), notes=notes)


def _is_divisible(window: Window) -> bool:
    return text_layout(window) is None and are_lines(window, None)


def _words(value: dict[str, Any], name: str) -> str:
    """A column as text; "" where there is none."""
    found = value.get(name)
    if found is None:
        return ""
    return clean(found if isinstance(found, str) else json.dumps(found, ensure_ascii=False))
