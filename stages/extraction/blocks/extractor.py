"""A page's source to its main text and how sure the model is of it."""

from typing import NamedTuple

from stages.extraction.blocks.around import BETA, choose
from stages.extraction.blocks.declared_text import declared_text
from stages.extraction.blocks.layout import text
from stages.extraction.blocks.model import load
from stages.extraction.blocks.page import page
from stages.extraction.blocks.stream import stream

# Below this confidence a longer text in JSON-LD is taken instead. On pages of more confidence that lost more than it
# gained (21 pages of WCXB, part dev, whose JSON-LD has a text that the page does not show).
LITTLE, SHORT = 0.5, 20


class Main(NamedTuple):
    """The main text of a page, and the F-measure that the model expects it to have against the truth, 0 to 1."""

    text: str
    confidence: float


def main(source: bytes, *, model: str | None, favor: str, tables: bool, links: bool) -> Main:
    """The main text of a page in UTF-8, "" where it has none. The same for the same source, whatever came before."""
    tags = stream(source)
    blocks = page(tags)
    found, confidence = "", 0.0
    if blocks is not None:
        probability = load(model).probability(blocks)
        chosen, confidence = choose(probability, blocks.words, BETA[favor])
        found = text(blocks, chosen, tables=tables, links=links)
    if confidence < LITTLE:
        declared = declared_text(tags.said.scripts)
        found = declared if len(declared.split()) > max(len(found.split()), SHORT) else found
    return Main(found, confidence)
