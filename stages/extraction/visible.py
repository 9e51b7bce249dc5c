"""The whole visible text of a page, boilerplate included, by resiliparse's fast parser."""

import json
import re
from collections.abc import Iterator
from html import unescape
from typing import Any

from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.html import HTMLTree

from stages.extraction.last import last
from stages.extraction.markup import without_scripts

LD_JSON = b"ld+json"
LD_SCRIPT = re.compile(rb"<script[^>]*ld\+json[^>]*>(.*?)</script", re.DOTALL | re.IGNORECASE)
# Properties of schema.org whose text an extractor may return although no reader of the page sees it.
BODIES = frozenset({"articleBody", "reviewBody", "recipeInstructions", "step", "acceptedAnswer", "text", "description"})
MARKUP = re.compile(r"<[^>]*>")


@last
def parsed(source: str) -> HTMLTree:
    """The page as a tree that nobody changes. The last one is kept, for `prescreen` and `extract` alike."""
    return HTMLTree.parse(without_scripts(source))


def visible_text(source: str) -> str:
    """All text that a reader could see."""
    text: str = extract_plain_text(parsed(source), noscript=True)
    return text


def json_ld_text(html: bytes) -> str:
    """The texts that a page's JSON-LD blocks hold, "" where there are none; the page in UTF-8."""
    return " ".join(body for block in _ld_blocks(html) for body in _bodies(block.decode("utf-8", "replace")))


def _ld_blocks(html: bytes) -> Iterator[bytes]:
    """The JSON-LD blocks; looked for by their type, since a pattern over all scripts of a page costs ten times that."""
    at = html.find(LD_JSON)
    while at >= 0:
        block = LD_SCRIPT.match(html, max(html.rfind(b"<", 0, at), 0))
        if block:
            yield block[1]
        at = html.find(LD_JSON, block.end() if block else at + len(LD_JSON))


def _bodies(block: str) -> Iterator[str]:
    """Texts in one JSON-LD block, markup taken out; none where it is no JSON."""
    try:
        data = json.loads(block, strict=False)
    except (ValueError, RecursionError):
        return
    waiting: list[tuple[str, Any]] = [("", data)]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, dict):
            waiting.extend(value.items())
        elif isinstance(value, list):
            waiting.extend((name, item) for item in value)
        elif isinstance(value, str) and name in BODIES:
            yield MARKUP.sub(" ", unescape(value))


def main_text(source: str, *, tables: bool, links: bool, precise: bool) -> str:
    """The main content by resiliparse's own rules: quick, with more boilerplate than trafilatura's."""
    text: str = extract_plain_text(
        parsed(source),
        preserve_formatting=True,
        main_content=True,
        list_bullets=True,
        alt_texts=False,
        links=links,
        comments=False,
        post_meta=not precise,
        skip_elements=[] if tables else ["table"],
    )
    return text
