"""Builds the sample crawl and its truth, the same bytes each time: `python -m sample_crawl.build [FOLDER]`.

Three WARC files: two with one gzip member a record, as Common Crawl's are, and one uncompressed.
`truth.jsonl` has a line for each record in file order.
"""

import hashlib
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from curate.example_pages import CRAWL_SAMPLE
from sample_crawl import answers, copies, junk, markup, wire
from sample_crawl.deflate import gzip_member
from sample_crawl.page import KEPT, OTHER, Page, page
from sample_crawl.prose import Article, Dice, article, jaccard, languages, normalized, topics
from sample_crawl.records import Record, visit, warcinfo

FOLDER = Path(__file__).parent
DAMAGED = "read.damaged"


def sample_pages() -> list[Page]:
    """The seven pages of `CRAWL_SAMPLE`, as pages of three sites."""
    verdicts = (
        KEPT,
        OTHER,
        "gopher.too_few_words",
        "gopher.too_few_stop_words",
        copies.EXACT,
        copies.NEAR,
        KEPT,
    )
    hosts = "river village menu shop mirror scraper baker".split()
    pages: list[Page] = []
    for n, (text, expect, host) in enumerate(zip(CRAWL_SAMPLE, verdicts, hosts)):
        language = "fr" if expect == OTHER else "en"
        body = Article("", tuple(filter(None, map(str.strip, text.split("\n")))), language)
        of = pages[0].url if expect in (copies.EXACT, copies.NEAR) else None
        pages.append(page(f"{host}.seven.example", body, f"seven_{n}", expect, template=n % 3, of=of))
    menu = markup.document("Menu", f"<p>{CRAWL_SAMPLE[2]}</p>").encode()
    pages[2] = replace(pages[2], body=menu)
    return pages


def first_file(articles: list[Article]) -> list[Page]:
    """Good articles in no order, among them menus, notices, errors; a few copies at the end."""
    originals = [page(f"site{n % 9}.example", text, "article") for n, text in enumerate(articles)]
    good = {original.text: original for original in originals}
    mixed = [*originals, *junk.pages(), *answers.errors(articles[0]), *answers.redirects(), *answers.files()]
    dice = Dice("first file")
    pages = [mixed[int(n)] for n in dice.some([str(n) for n in range(len(mixed))], len(mixed))]
    for n, text in enumerate(articles[:3]):
        pages.append(copies.exact(good[text.text], text, f"copy{n}.example", n + 1))
    return [*pages, answers.revisit(good[articles[5].text])]


def second_file(articles: list[Article], spare: list[Article]) -> list[Page]:
    """Copies of the first file's articles, foreign pages, a cut page and a damaged one."""
    good = {text.text: page(f"site{n % 9}.example", text, "article") for n, text in enumerate(articles)}

    def copied(start: int, n: int) -> Iterator[tuple[Page, Article]]:
        return ((good[text.text], text) for text in articles[start : start + n])

    pages = [copies.exact(*pair, f"mirror{n}.example", n % 3) for n, pair in enumerate(copied(6, 5))]
    for n, kind in enumerate([*copies.REFORMATS, *copies.REFORMATS]):
        pages += [copies.reformatted(*pair, f"format{n}.example", kind) for pair in copied(11 + n, 1)]
    for n, kind in enumerate(3 * list(copies.NEAR_EDITS)):
        pages += [copies.near(*pair, f"near{n}.example", kind) for pair in copied(17 + n, 1)]
    pages += [copies.related(*pair, "related.example") for pair in copied(29, 3)]
    pages.append(answers.cut(spare[1]))
    for code, sentences in languages().items():
        for half in (0, 1):
            lines = sentences[5 * half : 5 * half + 5]
            text = Article(lines[0].rstrip("。.").split(",")[0], (" ".join(lines[1:3]), " ".join(lines[3:])), code)
            pages.append(wire.foreign(f"{'ab'[half]}.{code}.example", text))
    pages.append(replace(page("unlucky.example", spare[2], "damaged", DAMAGED), damaged=True))
    dice = Dice("second file")
    mixed = [pages[int(n)] for n in dice.some([str(n) for n in range(len(pages))], len(pages))]
    steps = [step for pair in copied(43, 1) for step in copies.chain(*pair)]
    return [*mixed, *steps, *copies.terms()]


def third_file(marked: list[Article]) -> list[Page]:
    """Odd envelopes, and the seven pages of `CRAWL_SAMPLE` in their order."""
    kinds = len(wire.CHARSETS)
    charsets = [wire.charset(f"c{n}.wire.example", marked[n], kind) for n, kind in enumerate(wire.CHARSETS)]
    codings = wire.codings("codings.wire.example", marked[kinds : kinds + 11])
    more = [wire.entities("ascii.wire.example", marked[kinds + 11]), answers.plain_text(marked[kinds + 12])]
    return [*charsets, *codings, *more, *sample_pages()]


def files() -> dict[str, list[Page]]:
    """The pages of each file, in crawl order."""
    articles = [article(topic, part) for part in (0, 1) for topic in topics()]
    marked = [article(topic, 2, marks=True) for topic in topics()]
    return {
        "sample-00000.warc.gz": first_file(articles),
        "sample-00001.warc.gz": second_file(articles, marked[-3:]),
        "sample-00002.warc": third_file(marked),
    }


def _stored(record: Record, compress: bool) -> bytes:
    data = gzip_member(record.data) if compress else record.data
    if record.page is not None and record.page.damaged:
        middle = len(data) // 2
        data = data[:middle] + bytes([data[middle] ^ 0x10]) + data[middle + 1 :]
    return data


def truth(record: Record, texts: dict[str, str], ids: dict[str, str]) -> dict[str, Any]:
    """What is known of one record. `expect` is null where the record is no document."""
    row: dict[str, Any] = {"record_id": record.id, "type": record.type, "url": record.url, "expect": None}
    source = record.page
    if source is None:
        return row
    row |= {"kind": source.kind, "expect": source.expect or None, "language": source.language}
    if source.of:
        row |= {"of": ids[source.of], "jaccard": round(jaccard(source.text, texts[source.of]), 4)}
    if source.needle:
        row["needle"] = source.needle
    if source.text:
        row["text_sha1"] = hashlib.sha1(normalized(source.text).encode()).hexdigest()
        row["words"] = len(source.text.split())
    return row


def build(folder: Path) -> None:
    """Writes the WARC files and `truth.jsonl` into a folder."""
    rows: list[dict[str, Any]] = []
    texts: dict[str, str] = {}
    ids: dict[str, str] = {}
    for number, (name, pages) in enumerate(files().items()):
        info = warcinfo(name)
        records = [info]
        for second, visited in enumerate(pages):
            records += visit(visited, info, 1000 * number + 3 * second)
        offset, parts = 0, []
        for record in records:
            if record.page is not None and record.type == "response":
                texts.setdefault(record.url, record.page.text)
                ids.setdefault(record.url, record.id)
            parts.append(_stored(record, name.endswith(".gz")))
            rows.append({"file": name, "offset": offset, "length": len(parts[-1]), **truth(record, texts, ids)})
            offset += len(parts[-1])
        (folder / name).write_bytes(b"".join(parts))
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    (folder / "truth.jsonl").write_text("".join(lines), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    build(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
