"""Inputs that change while a run reads them: the run says so, and nothing is mixed."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curate.document import Document
from curate.errors import UserError
from curate.sources import SourceConfig, reader
from curate.sources.reader import Slice, settled
from tests.engine import run_it, settings, text, write_jsonl
from tests.sources.reading import put
from tests.sources.warc_bytes import member, response, site


@dataclass(frozen=True, kw_only=True)
class Tampering:
    """Changes a file when it sees page `page`, once."""

    path: str
    way: str
    page: int

    adds: ClassVar[Mapping[str, pa.DataType]] = {}
    reasons: ClassVar[tuple[str, ...]] = ()
    reads_text: ClassVar[bool] = False

    def apply(self, doc: Document) -> Document:
        path, done = Path(self.path), Path(f"{self.path}.changed")
        if doc.url.endswith(f"/{self.page}") and not done.exists():
            done.touch()
            data = path.read_bytes()
            if self.way == "grows":
                path.write_bytes(data + data[-40:])
            elif self.way == "shrinks":
                os.truncate(path, len(data) // 3)
            elif self.way == "is replaced":
                path.unlink()
                path.write_bytes(data[:300] + data[:299:-1])  # still of its kind by its first bytes
            else:
                path.unlink()
        return doc


def jsonl(folder: Path) -> Path:
    return write_jsonl(folder / "a.jsonl", [text(number) for number in range(12)])


def warc(folder: Path) -> Path:
    (folder / "a.warc.gz").write_bytes(b"".join(member(part) for part in site(12, words=90)))
    return folder / "a.warc.gz"


def plain(folder: Path) -> Path:
    (folder / "a.warc").write_bytes(b"".join(site(12, words=90)))
    return folder / "a.warc"


def parquet(folder: Path) -> Path:
    rows = {"text": [text(n) for n in range(12)], "url": [f"http://a.example/{n}" for n in range(12)]}
    pq.write_table(pa.table(rows), folder / "a.parquet", row_group_size=3)
    return folder / "a.parquet"


MADE: list[Callable[[Path], Path]] = [jsonl, warc, plain, parquet]


def tampered(path: Path, **options: Any) -> dict[str, Any]:
    stages = [{"tests.test_changing_input:Tampering": {"path": str(path), **options}}]
    source: dict[str, Any] = {"path": str(path)}
    if "warc" in path.name:
        stages.append("extract")
    else:
        source["url"] = "url"
    return settings({"crawl": source}, path.parent / "out", stages=stages)


@pytest.mark.parametrize("make", MADE)
@pytest.mark.parametrize("way", ["grows", "shrinks", "is replaced"])
@pytest.mark.parametrize("page", [1, 11])
@pytest.mark.parametrize("slice_bytes", [None, 900])
def test_a_run_says_that_its_input_changed_and_can_be_had_anew(
    make: Callable[[Path], Path], way: str, page: int, slice_bytes: int | None, tmp_path: Path
) -> None:
    path = make(tmp_path)
    config = tampered(path, way=way, page=page)
    with pytest.raises(UserError, match=r"input.crawl: '.*' was changed while the run read it .*give --fresh"):
        run_it(config, slice_bytes=slice_bytes)
    assert not (tmp_path / "out/manifest.json").exists()
    with pytest.raises(UserError, match=r"holds a run that differs: input files: 1 changed"):
        run_it(config)
    run_it(config, fresh=True)


@pytest.mark.parametrize("make", MADE)
def test_an_input_that_goes_away_is_damage_or_was_read_already(make: Callable[[Path], Path], tmp_path: Path) -> None:
    config = tampered(make(tmp_path), way="goes away", page=1)
    stats = run_it(config, slice_bytes=900).stats
    assert 2 <= stats["kept"]["documents"] <= 12
    assert {row["reason"] for row in stats["dropped"]} <= {"damaged"}


@pytest.mark.parametrize("name", ["a.warc.gz", "a.warc", "a.jsonl"])
def test_a_slice_behind_the_end_of_a_file_that_shrank_is_empty(name: str, tmp_path: Path) -> None:
    data = b"".join(member(response(number, 90)) for number in range(4)) if name.endswith(".gz") else b""
    file = put(tmp_path, name, data)
    end = len(data)
    part = Slice(end + 500, end + 900, exact=False)
    spans = list(settled(reader(SourceConfig(path=file.name), file).read(file, part)))
    assert [span.type for span in spans] == ["padding"] and spans[0].length == 0
