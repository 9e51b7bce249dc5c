"""Labelled pages of public sets, as bench/extraction.py and bench/extractor.py take them. None is part of this project.

A folder is a clone of one of these (the kind is found by what lies in it):

- github.com/Murrough-Foley/web-content-extraction-benchmark, WCXB, CC-BY-4.0: the whole true text, seven kinds of
  pages. Its part `dev` alone is read: `test` is for whoever judges.
- github.com/scrapinghub/article-extraction-benchmark: article bodies (ground-truth.json).
- github.com/adbar/trafilatura: segments that must and must not be in the text (tests/evaldata.json).
- a set of github.com/j-szulc/html-cleaning-dataset-merged, where CleanEval (`cleaneval-final`), L3S-GN1
  (`page-signal-master`), dragnet's data and CleanPortalEval lie in one form: `input` and `GoldStandard`. Of L3S-GN1
  headlines, full and supplemental text are true, of dragnet's data what stands before the comments.
- github.com/mozilla/readability and github.com/go-shiori/go-readability: what readability makes of its test pages.
  That is another program's answer and no person's, so it tells of lost text and never of quality.
"""

import gzip
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import unescape
from pathlib import Path

from lxml.html import document_fromstring

from stages.extraction.training.teacher import registered

WORD = re.compile(r"\w+")
TAGS = re.compile(r"<[^>]*>")
COMMENTS = "!@#$%^&*()"  # dragnet's mark between a text and its readers' comments
MARKED = re.compile(r"class=\"x-nc-sel[0-5]")
MAIN = (
    "//text()[ancestor::*[contains(@class, 'x-nc-sel')][1][@class[contains(., 'sel1') or contains(., 'sel2') or "
    "contains(., 'sel3')]]]"
)  # headline, full text, supplemental
SHINGLE = 4  # words, as the article benchmark has it
Score = tuple[float, float, float]  # true positives, false positives, false negatives


@dataclass
class Page:
    """A labelled page; `score` turns a text into true positives, false positives and false negatives."""

    html: bytes
    score: Callable[[str], Score]
    url: str = ""
    kind: str = "all"
    truth: str = ""

    @property
    def group(self) -> str:
        """The name that the page's domain was registered under, without what is common to all of a country."""
        return registered(self.url)


def averaged(folder: Path) -> bool:
    """Whether a set's F1 is the mean of its pages' F1, as WCXB has it, and not that of the sums over all pages."""
    return any((folder / name).is_dir() for name in ("dev/ground-truth", "ground-truth", "GoldStandard"))


def pages(folder: Path) -> Iterator[Page]:
    """The labelled pages of a clone."""
    if (folder / "dev" / "ground-truth").is_dir():
        yield from _wcxb(folder / "dev")
    elif (folder / "tests" / "evaldata.json").is_file():
        yield from _segmented(folder)
    elif (folder / "ground-truth.json").is_file():
        labels = json.loads((folder / "ground-truth.json").read_text())
        for key in sorted(labels):
            html = gzip.decompress((folder / "html" / f"{key}.html.gz").read_bytes())
            body = labels[key]["articleBody"]
            yield Page(html, shingles(body), labels[key].get("url", key), truth=body)
    elif (folder / "GoldStandard").is_dir():
        for source in sorted((folder / "input").glob("*.html")):
            gold = folder / "GoldStandard" / f"{source.stem}.txt"
            if gold.is_file() and (true := _gold(gold.read_bytes())):
                yield Page(source.read_bytes(), words(true), source.stem, truth=true)
    else:
        for source in sorted(folder.glob("**/source.html")):
            true = TAGS.sub(" ", (source.with_name("expected.html")).read_text("utf-8", "replace"))
            yield Page(source.read_bytes(), words(true), source.parent.name, truth=true)


def _gold(label: bytes) -> str:
    """The true text of a label in the form of CleanEval, of dragnet, or of L3S-GN1, whose labels are marked pages."""
    try:
        text = label.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = label.decode("cp1252", "replace")
    if MARKED.search(text):
        root = document_fromstring(text)
        return " ".join(str(part) for part in root.xpath(MAIN))
    first, _, rest = text.partition("\n")
    return unescape(TAGS.sub(" ", rest if first.startswith("URL:") else text).partition(COMMENTS)[0]).strip()


def _wcxb(folder: Path) -> Iterator[Page]:
    for file in sorted((folder / "ground-truth").glob("*.json")):
        label = json.loads(file.read_text())
        html = gzip.decompress((folder / "html" / f"{file.stem}.html.gz").read_bytes())
        kind = label["_internal"]["page_type"]["primary"]
        true = label["ground_truth"].get("main_content") or ""
        kind = "collection" if kind == "category" else kind  # as its evaluate.py has it
        yield Page(html, words(true), label.get("url", file.stem), kind, true)


def _segmented(folder: Path) -> Iterator[Page]:
    labels = json.loads((folder / "tests" / "evaldata.json").read_text())
    for url in sorted(labels):
        for place in ("cache", "eval"):
            file = folder / "tests" / place / labels[url]["file"]
            if file.is_file():
                yield Page(file.read_bytes(), segments(labels[url]["with"], labels[url]["without"]), url)
                break


def segments(wanted: list[str], unwanted: list[str]) -> Callable[[str], Score]:
    """Segments found, white space collapsed, counted over all pages."""

    def score(text: str) -> Score:
        text = " ".join(text.split())
        found = sum(" ".join(segment.split()) in text for segment in wanted)
        return found, sum(" ".join(segment.split()) in text for segment in unwanted), len(wanted) - found

    return score


def words(body: str) -> Callable[[str], Score]:
    """Words of a page's text and its true body, counted without their order: WCXB's measure."""
    true = Counter(WORD.findall(body.lower()))

    def score(text: str) -> Score:
        found = Counter(WORD.findall(text.lower()))
        hits = (true & found).total()
        return hits, found.total() - hits, true.total() - hits

    return score


def shingles(body: str) -> Callable[[str], Score]:
    """Shares of shingles of a page's text and its true body."""

    def counts(text: str) -> Counter[tuple[str, ...]]:
        found = WORD.findall(text.lower())
        return Counter(zip(*(found[start:] for start in range(min(SHINGLE, max(len(found), 1))))))

    true = counts(body)

    def score(text: str) -> Score:
        found = counts(text)
        hits = (true & found).total()
        total = (true | found).total() or 1
        return hits / total, (found.total() - hits) / total, (true.total() - hits) / total

    return score


def f1(hits: float, wrong: float, missed: float) -> float:
    """The F-measure; 1 where there was nothing to find and nothing was found."""
    return 2 * hits / (2 * hits + wrong + missed) if hits + wrong + missed else 1.0
