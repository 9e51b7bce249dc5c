"""A page's source to its main text and how sure the model is of it."""

from typing import NamedTuple

from stages.extraction.blocks.around import BETA, choose
from stages.extraction.blocks.layout import text
from stages.extraction.blocks.model import load
from stages.extraction.blocks.page import page
from stages.extraction.blocks.stream import stream

BROKEN = "\ufffd"  # what the parser makes of references to characters that do not exist


class Main(NamedTuple):
    """The main text of a page, and the F-measure that the model expects it to have against the truth, 0 to 1."""

    text: str
    confidence: float


def main(source: str, *, model: str | None, favor: str, tables: bool, links: bool) -> Main:
    """The main text of a page, "" where it has none. The same for the same source, whatever came before."""
    tags = stream(source)
    blocks = page(tags) if tags else None
    if blocks is None:
        return Main("", 0.0)
    probability = load(model).probability(blocks, source)
    chosen, confidence = choose(probability, blocks.words, BETA[favor])
    found = text(blocks, chosen, tables=tables, links=links)
    if BROKEN in found and BROKEN not in source:
        found = found.replace(BROKEN, "")
    return Main(found, confidence)
