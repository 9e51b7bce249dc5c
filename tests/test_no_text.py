"""Pages without a text: refused where that can be told before the run, else dropped and entered."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pytest

from curate.config.file import parse_config
from curate.document import Document
from curate.errors import UserError
from tests.engine import run_it, settings, text, write_jsonl
from tests.sources.warc_bytes import http, record

SAMPLE = str(Path(__file__).parents[1] / "sample_crawl/sample-00000.warc.gz")


@dataclass(frozen=True, kw_only=True)
class Paragraph:
    """An extractor of one's own: what stands in the page's only element."""

    adds: ClassVar[Mapping[str, pa.DataType]] = {}
    reasons: ClassVar[tuple[str, ...]] = ()

    def apply(self, doc: Document) -> Document:
        return doc if doc.html is None else doc.with_text(doc.html.decode()[3:-4])


@pytest.mark.parametrize("stages", [["near_dedup"], ["exact_dedup"], ["tokens", "language"], ["prescreen_alone"]])
def test_pages_that_nothing_extracts_are_refused_before_they_are_read(stages: list[Any], tmp_path: Path) -> None:
    alone = {"prescreen": {"min_words": None, "min_stop_words": None, "languages": None}}
    stages = [alone if stage == "prescreen_alone" else stage for stage in stages]
    with pytest.raises(UserError, match=r"stages: none turns the web pages of input.crawl .* into text"):
        run_it(settings(SAMPLE, tmp_path / "out", stages=stages))
    assert not (tmp_path / "out").exists()


def test_extract_before_the_judges_of_text(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"stages\[1\] extract: must stand before 'language', which judges the text"):
        parse_config(settings(SAMPLE, tmp_path / "out", stages=["language", "extract"]))


@pytest.mark.parametrize("suffix", ["jsonl", "warc"])
def test_a_document_that_leaves_the_belt_without_text_is_not_written(suffix: str, tmp_path: Path) -> None:
    texts = ["", text(1), " \n\u2003", text(2)]
    path = tmp_path / f"a.{suffix}"
    if suffix == "jsonl":
        write_jsonl(path, texts)
    else:
        pages = [http(f"<p>{page}</p>".encode()) for page in texts]
        path.write_bytes(b"".join(record("response", page, f"http://a.example/{n}") for n, page in enumerate(pages)))
    stages: list[Any] = [{"tests.test_no_text:Paragraph": {}}, "exact_dedup"]
    report = run_it(settings(str(path), tmp_path / "out", stages=stages))
    assert report.stats["kept"]["documents"] == 2
    found = [(row["stage"], row["reason"], row["documents"]) for row in report.stats["dropped"]]
    assert found == [("caps", "no_text", 2)]
