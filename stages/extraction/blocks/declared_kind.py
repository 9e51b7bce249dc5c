"""What a page declares itself to be, by Open Graph and schema.org."""

import re
from itertools import islice

import numpy as np

from stages.extraction.blocks.page import Floats
from stages.extraction.blocks.stream import Said

OPEN_GRAPH = re.compile(rb"content=[\"']?([a-z.:]+)", re.IGNORECASE)
GRAPHS = ("article", "product", "website")
SCHEMA = re.compile(rb'"@type"\s*:\s*\[?\s*"(\w+)"')
MENTIONS = 20  # of a type looked at
KINDS = {
    "article": frozenset({b"Article", b"NewsArticle", b"BlogPosting", b"TechArticle", b"Report"}),
    "product": frozenset({b"Product", b"ProductGroup"}),
    "forum": frozenset({b"DiscussionForumPosting", b"QAPage", b"Question"}),
    "list": frozenset({b"ItemList", b"CollectionPage"}),
}  # types of schema.org
NAMES = [*(f"graph_{name}" for name in GRAPHS), *(f"schema_{name}" for name in KINDS)]


def kind(said: Said) -> Floats:
    """Of each of NAMES whether the page says so: (NAMES, 1)."""
    graph = OPEN_GRAPH.search(said.graph)
    called = graph[1].lower().decode() if graph else ""
    types = {found[1] for script in said.scripts for found in islice(SCHEMA.finditer(script), MENTIONS)}
    holds = [*(name in called for name in GRAPHS), *(not types.isdisjoint(known) for known in KINDS.values())]
    return np.array(holds, float)[:, None]
