"""Makes a crawl of any size with known copies, in several languages.

    python bench/make_crawl.py --pages 20000 --out crawl-20k [--from FOLDER] [--per-file 2500] [--target 0.35]
                               [--exact 0.05] [--near 0.10] [--kilobytes 80] [--seed 5]

Writes `made-000NN.warc.gz` and `truth.jsonl` {url, kind, of, language, words_left}. Kinds: `fresh`, `exact` (the bytes
of an earlier page of the same file), `near` (the same page with one word in sixty replaced). Without `--from` pages are
articles put together by `sample_crawl` in a share `--target` of English and twelve other languages, within menus,
scripts and styles that bring a page to about `--kilobytes` (log-normal). With `--from`, pages are taken from a folder
of HTML, and a fresh page has a third of its words replaced. Same arguments, same bytes.
"""

import argparse
import random
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from crawl_files import CrawlWriter, Visited
from pages_to_crawl import pages_of

sys.path.insert(0, str(Path(__file__).parents[1]))

from sample_crawl import markup, prose

TEXT = re.compile(r">([^<>{};]{12,})<")
HISTORY = 2_000  # pages that copies are made of
NEAR_SHARE, FRESH_SHARE = 1 / 60, 1 / 3


@dataclass(frozen=True)
class Made:
    """A page before it is stored: its markup, its language, its URL."""

    url: str
    html: str
    language: str


def swap_words(html: str, share: float, words: list[str], dice: random.Random) -> tuple[str, float]:
    """The page with a share of the words of its text nodes replaced, and the share of words left."""
    count = swapped = 0
    if not words:  # the language puts no spaces between words
        return html, 1.0

    def swap(found: re.Match[str]) -> str:
        nonlocal count, swapped
        parts = found.group(1).split(" ")
        for place, part in enumerate(parts):
            if part and "&" not in part:
                count += 1
                if dice.random() < share:
                    swapped += 1
                    parts[place] = words[int(dice.random() * len(words))]
        return ">" + " ".join(parts) + "<"

    return TEXT.sub(swap, html), 1 - swapped / max(1, count)


@lru_cache(maxsize=1)
def vocabularies() -> dict[str, list[str]]:
    """Words of each language, from the texts of the sample crawl."""
    english = " ".join([*prose.PATTERNS, *(fact for topic in prose.topics() for fact in topic.facts)])
    texts = {"en": english} | {code: " ".join(lines) for code, lines in prose.languages().items()}
    return {code: sorted({w for w in text.split() if w.isalpha() and w.islower()}) for code, text in texts.items()}


def _article(number: int, language: str, dice: random.Random) -> prose.Article:
    """An article that no other number has: another title gives other sentences, other words come in by chance."""
    if language == "en":
        topics = prose.topics()
        topic = topics[number % len(topics)]
        written = [prose.article(replace(topic, title=f"{topic.title} {number} {part}"), part) for part in (0, 1, 2)]
        paragraphs = [text for article in written for text in article.paragraphs]
        return prose.Article(
            f"{topic.title} {number}", tuple(dice.sample(paragraphs, dice.randint(4, len(paragraphs))))
        )
    lines = prose.languages()[language]
    drawn = [" ".join(dice.sample(lines, 3)) for _ in range(dice.randint(3, 9))]
    return prose.Article(f"{lines[number % len(lines)][:40]} {number}", tuple(drawn), language)


def _furniture(size: int, host: str, dice: random.Random) -> str:
    """Menus, cards, scripts and styles: about `size` bytes with a tag in 130, as they lie around the text of pages."""
    parts: list[str] = []
    left = size
    while left > 0:
        names = dice.sample(markup.SECTIONS, 6)
        links = [f"https://{host}/{name.lower()}/{dice.randrange(10_000)}.html" for name in names]
        menu = "".join(
            f'<li class="item"><a href="{link}" title="{name}">{name}</a></li>\n' for name, link in zip(names, links)
        )
        cards = "".join(
            f'<div class="card"><div class="thumb"><img src="{link}.jpg" alt=""></div><span class="tag">{name}</span>\n'
            f'<a class="more" href="{link}"><em>More</em></a></div>\n'
            for name, link in zip(names, links)
        )
        data = ",".join(f'"{name}":{{"id":{dice.randrange(10**9)},"url":"{link}"}}' for name, link in zip(names, links))
        rules = "".join(f".c{dice.randrange(1000)}{{margin:{n}px;padding:{n}px}}" for n in range(12))
        parts += [f'<div class="menu nav"><ul>{menu}</ul></div>', f'<div class="grid related">{cards}</div>']
        parts += [f"<script>var d={{{data}}};</script>", f"<style>{rules}</style>"]
        left -= sum(map(len, parts[-4:]))
    return "\n".join(parts)


def made_pages(target: float, kilobytes: float) -> Callable[[int, random.Random], Made]:
    """A function from a number to a page out of the sample crawl's sentences."""
    others = [code for code in prose.languages() if code != "en"]
    words = vocabularies()

    def make(number: int, dice: random.Random) -> Made:
        language = "en" if dice.random() < target else dice.choice(others)
        host = f"site{dice.randint(1, 4000)}.example"
        html = markup.html(host, _article(number, language, dice))
        html, _ = swap_words(html, FRESH_SHARE / 4, words[language], dice)
        size = int(min(20.0, dice.lognormvariate(0, 0.8)) * kilobytes * 1000)
        for place in ("<body>", "</body>"):
            around = _furniture((size - len(html)) // 2, host, dice)
            html = html.replace(place, f"{place}\n{around}" if place == "<body>" else f"{around}\n{place}", 1)
        return Made(f"https://{host}/{number}.html", html, language)

    return make


def folder_pages(folder: Path) -> Callable[[int, random.Random], Made]:
    """A function from a number to a page of the folder with a third of its words replaced by others of the folder."""
    pool = [page.decode("utf-8", "replace") for _, page in pages_of([folder]) if len(page) < 400_000]
    found = {word for page in pool for text in TEXT.findall(page) for word in text.split() if word.isalpha()}
    words = sorted(found)

    def make(number: int, dice: random.Random) -> Made:
        html = pool[number % len(pool)]
        if number >= len(pool):
            html, _ = swap_words(html, FRESH_SHARE, words, dice)
        return Made(f"https://site{dice.randint(1, 4000)}.example/{number}.html", html, "")

    return make


def pages(given: argparse.Namespace) -> Iterator[Visited]:
    """The pages of the crawl with their truth; each file draws from a generator of its own."""
    make = folder_pages(given.source) if given.source else made_pages(given.target, given.kilobytes)
    history: list[Made] = []
    dice = random.Random()
    for number in range(given.pages):
        if number % given.per_file == 0:
            dice, history = random.Random(given.seed * 1_000_003 + number), []
        drawn, kind, of, left = dice.random(), "fresh", None, 1.0
        if history and drawn < given.exact + given.near:
            origin = history[int(dice.random() * len(history))]
            kind, of, page = "exact", origin.url, replace(origin, url=f"{origin.url}?copy={number}")
            if drawn >= given.exact:
                kind = "near"
                html, left = swap_words(page.html, NEAR_SHARE, vocabularies()[page.language or "en"], dice)
                page = replace(page, html=html)
        else:
            page = make(number, dice)
        if len(history) < HISTORY and kind == "fresh":
            history.append(page)
        truth = {"kind": kind, "of": of, "language": page.language, "words_left": round(left, 4)}
        yield Visited(
            url=page.url,
            body=page.html.encode("utf-8", "replace"),
            truth=truth,
            content_type="text/html; charset=utf-8",
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=5_000)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--from", dest="source", type=Path)
    parser.add_argument("--per-file", type=int, default=2_500)
    parser.add_argument("--target", type=float, default=0.35)
    parser.add_argument("--exact", type=float, default=0.05)
    parser.add_argument("--near", type=float, default=0.10)
    parser.add_argument("--kilobytes", type=float, default=80)
    parser.add_argument("--seed", type=int, default=5)
    given = parser.parse_args()
    size = 0
    with CrawlWriter(given.out, "made", given.per_file) as crawl:
        for page in pages(given):
            crawl.add(page)
            size += len(page.body)
    print(f"{crawl.pages} pages, {size / 1e6:.1f} MB of HTML, in {given.out}")


if __name__ == "__main__":
    main()
