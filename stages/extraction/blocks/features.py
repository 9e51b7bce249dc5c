"""What the model is told of each block, by name. Nothing here is a word of a language, and no value needs a scale:
trees ask only whether a value is above a limit.
"""

import re
from collections.abc import Iterator

import numpy as np

from stages.extraction.blocks import names
from stages.extraction.blocks.characters import COMMA, DIGIT, POINT, STOP, SYMBOL, UPPER
from stages.extraction.blocks.page import Floats, Page
from stages.extraction.blocks.stream import NUMBER, Ints

Features = dict[str, Floats | float]  # one value a block, or one for the page

# A block of running text: few links, and either sentences or many words.
FEW_LINKS, SENTENCE_WORDS, MANY_WORDS = 0.35, 5, 15
AROUND = ("main nav header footer aside article form figure section ul li pre h2 h3 table blockquote noscript").split()
_AROUND_NAMES = [f"in_{tag}" for tag in AROUND]
_AROUND_ROW = np.full(len(NUMBER) + 1, -1)
_AROUND_ROW[[NUMBER[tag] for tag in AROUND]] = range(len(AROUND))
COUNTED = ("p img h2 h3 li main article time td pre table form").split()
OPEN_GRAPH = re.compile(r"content=[\"']?([a-z.:]+)", re.IGNORECASE)
SCHEMA = re.compile(r'"@type"\s*:\s*\[?\s*"(\w+)"')
TYPES = 50  # mentions of a type looked at
NEAR = 60  # characters around og:type in which its content stands
KINDS_OF_PAGE = {
    "article": frozenset({"Article", "NewsArticle", "BlogPosting", "TechArticle", "Report"}),
    "product": frozenset({"Product", "ProductGroup"}),
    "forum": frozenset({"DiscussionForumPosting", "QAPage", "Question"}),
    "list": frozenset({"ItemList", "CollectionPage"}),
}  # types of schema.org
FAR = 100.0  # blocks from which a distance is not told apart


def features(page: Page, source: str, ballot: names.Ballot) -> Features:
    """The features of a page's blocks; `ballot` holds the votes of class words and tags."""
    called = names.of(page)
    votes = names.votes(page, called, ballot)
    sums = _Sums(page)
    told = _own(page)
    told["hidden"] = names.hidden(page, called).astype(float)
    told |= _named(page, votes)
    told |= _containers(page, sums)
    told |= dict(zip(_AROUND_NAMES, _around(page)))
    told |= _position(page, sums)
    told |= _repeated(page, called, sums)
    told |= _neighbours(page, told, sums)
    return told | _whole(page, sums) | _kind(source)


def share(part: Floats, whole: Floats | float) -> Floats:
    """A part of a whole, 0 of nothing."""
    return np.asarray(part / np.maximum(whole, 1.0))


def running(values: Floats) -> Floats:
    """Sums up to each block, and over all."""
    return np.concatenate(([0.0], np.cumsum(values)))


class _Sums:
    """Running sums over a page's blocks: words, those in links, sentence ends, words of running text."""

    def __init__(self, page: Page) -> None:
        stops, commas = page.kinds[:, STOP], page.kinds[:, COMMA]
        sentences = (stops + commas > 0) & (page.words >= SENTENCE_WORDS)
        flowing = (page.linked < FEW_LINKS * page.words) & (sentences | (page.words >= MANY_WORDS))
        self.prose = np.where(flowing, page.words, 0.0)
        self.words, self.linked = running(page.words), running(page.linked)
        self.stops, self.proses = running(stops), running(self.prose)


def _own(page: Page) -> Features:
    kinds, ink = page.kinds, np.maximum(page.kinds.sum(1) - page.kinds[:, 3], 1.0)
    return {
        "words": page.words, "ink": ink, "link": share(page.linked, page.words), "word_length": share(ink, page.words),
        "digits": kinds[:, DIGIT] / ink, "capitals": kinds[:, UPPER] / ink, "points": kinds[:, POINT] / ink,
        "symbols": kinds[:, SYMBOL] / ink, "stops": kinds[:, STOP], "commas": share(kinds[:, COMMA], page.words),
        "pieces": np.diff(np.append(page.starts, len(page.texts))).astype(float),
    }  # fmt: skip


def _named(page: Page, votes: names.Votes) -> Features:
    above = page.above
    told: Features = {f"name{level}": votes.mean[above[:, level]] for level in range(5)}
    told |= {f"tag{level}": votes.tag[above[:, level]] for level in range(4)}
    told["names_least"], told["names_most"] = votes.least[above].min(1), votes.most[above].max(1)
    told["names_near"] = votes.mean[above].sum(1)
    size = page.count + 1
    begin = np.bincount(page.elements.first, votes.mean, minlength=size)
    end = np.bincount(page.elements.last, votes.mean, minlength=size)
    told["names_all"] = np.cumsum(begin - end)[:-1]
    return told


def _around(page: Page) -> Floats:
    """How many elements of each tag of AROUND a block stands in: (tags, blocks)."""
    row = _AROUND_ROW[page.elements.tag]
    known = row >= 0
    size = page.count + 1
    begin = np.bincount(row[known] * size + page.elements.first[known], minlength=len(AROUND) * size)
    end = np.bincount(row[known] * size + page.elements.last[known], minlength=len(AROUND) * size)
    return np.cumsum((begin - end).reshape(len(AROUND), size), axis=1)[:, :-1].astype(np.float64)


def _containers(page: Page, sums: _Sums) -> Features:
    """Of the elements around a block: what they hold, and how much of the page's."""
    first, last = page.elements.first, page.elements.last
    words, prose = sums.words[last] - sums.words[first], sums.proses[last] - sums.proses[first]
    linked, stops = sums.linked[last] - sums.linked[first], sums.stops[last] - sums.stops[first]
    columns = {
        "share": (share(words, sums.words[-1]), range(6)), "prose": (share(prose, sums.proses[-1]), range(6)),
        "words": (words, (0, 2, 3, 4)), "link": (share(linked, words), range(5)),
        "mean": (share(words, (last - first).astype(float)), (1, 2, 3, 4)), "stops": (share(stops, words), (2, 3, 4)),
        "dense": (share(prose, words), (1, 2, 3)),
    }  # fmt: skip
    return {
        f"box_{name}{level}": values[page.above[:, level]]
        for name, (values, levels) in columns.items()
        for level in levels
    }


def _position(page: Page, sums: _Sums) -> Features:
    number = np.arange(page.count)
    titles = np.flatnonzero((page.stream.tag == NUMBER["h1"]) & (page.stream.step == 1))
    title = np.searchsorted(page.place, titles[0]) if len(titles) else None
    return {
        "depth": page.depth.astype(float), "at": number / page.count,
        "at_words": share(sums.words[:-1], sums.words[-1]),
        "before": sums.words[:-1], "after": sums.words[-1] - sums.words[1:],
        "prose_before": share(sums.proses[:-1], sums.proses[-1]),
        "prose_after": share(sums.proses[-1] - sums.proses[1:], sums.proses[-1]),
        "from_title": -FAR if title is None else np.clip(number - title, 1 - FAR, FAR),
        "from_longest": np.clip(number - int(np.argmax(sums.prose)), -FAR, FAR),
    }  # fmt: skip


def alike(page: Page, called: names.Called) -> Ints:
    """A number for each block, equal where it and the two elements above it are called the same."""
    one = called.number * len(NUMBER) + page.elements.tag
    key = np.zeros(page.count, np.int64)
    for level in range(3):
        key = key * 1_000_003 + one[page.above[:, level]]  # overflow is fine: it is a hash
    return np.asarray(np.unique(key, return_inverse=True)[1])


def _repeated(page: Page, called: names.Called, sums: _Sums) -> Features:
    """Of all blocks that look like this one."""
    group = alike(page, called)
    count, words, linked, stops, prose = (
        np.bincount(group, weights).astype(np.float64)
        for weights in (None, page.words, page.linked, page.kinds[:, STOP], sums.prose)
    )
    columns = {
        "count": count, "words": words / count, "link": share(linked, words), "stops": share(stops, words),
        "share": share(words, sums.words[-1]), "prose": share(prose, sums.proses[-1]),
    }  # fmt: skip
    told: Features = {f"alike_{name}": values[group] for name, values in columns.items()}
    return told | {"group": group.astype(float)}


def shifted(values: Floats, by: int, nothing: float = 0.0) -> Floats:
    """The value of the block so many further on."""
    moved = np.full(len(values), nothing)
    if abs(by) < len(values):
        moved[max(-by, 0) : len(values) - max(by, 0)] = values[max(by, 0) : len(values) + min(by, 0)]
    return moved


def window(sums: Floats, radius: int) -> Floats:
    """Sums over the blocks up to so many away."""
    number = np.arange(len(sums) - 1)
    return np.asarray(sums[np.minimum(number + radius + 1, len(number))] - sums[np.maximum(number - radius, 0)])


def _neighbours(page: Page, told: Features, sums: _Sums) -> Features:
    beside: Features = {
        f"{name}{by:+d}": shifted(np.asarray(told[name]), by)
        for name, steps in (("tag0", (-2, -1, 1, 2)), ("words", (-1, 1)), ("link", (-1, 1)), ("stops", (-1, 1)))
        for by in steps
    }
    for radius in (4, 12):
        words = window(sums.words, radius)
        beside[f"near_words{radius}"] = words
        beside[f"near_link{radius}"] = share(window(sums.linked, radius), words)
        beside[f"near_prose{radius}"] = share(window(sums.proses, radius), words)
    return beside


def _whole(page: Page, sums: _Sums) -> Features:
    """Of the page."""
    total = max(float(sums.words[-1]), 1.0)
    told: Features = {
        "page_words": total, "page_blocks": float(page.count), "page_link": float(sums.linked[-1]) / total,
        "page_prose": float(sums.proses[-1]) / total, "page_stops": float(sums.stops[-1]) / total,
        "page_longest": float(page.words.max()),
    }  # fmt: skip
    opened = np.bincount(page.stream.tag[page.stream.step >= 0], minlength=len(NUMBER) + 1)
    return told | {f"page_{tag}": float(opened[NUMBER[tag]]) for tag in COUNTED}


def _kind(source: str) -> Features:
    """What the page declares itself to be, by Open Graph and schema.org."""
    at = source.find("og:type")
    graph = OPEN_GRAPH.search(source, at, at + NEAR) or OPEN_GRAPH.search(source, max(at - NEAR, 0), at)
    kind = graph[1].lower() if graph and at >= 0 else ""
    types = frozenset(_types(source))
    told: Features = {f"graph_{name}": float(name in kind) for name in ("article", "product", "website")}
    return told | {f"schema_{name}": float(bool(types & known)) for name, known in KINDS_OF_PAGE.items()}


def _types(source: str) -> Iterator[str]:
    """The types that JSON-LD blocks name; looked for where they stand, since a pattern over the page costs a tenth."""
    at = source.find('"@type"')
    left = TYPES
    while at >= 0 and left:
        if found := SCHEMA.match(source, at):
            yield found[1]
        at, left = source.find('"@type"', at + 7), left - 1
