"""What the model is told of each block, by name. Nothing here is a word of a language, and no value needs a scale:
trees ask only whether a value is above a limit.

Most pages have some hundred blocks, so that a call of NumPy costs as much as its work: features of one kind are made
together, and written into one matrix.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stages.extraction.blocks import declared_kind, names
from stages.extraction.blocks.characters import COMMA, DIGIT, POINT, SPACE, STOP, SYMBOL, UPPER
from stages.extraction.blocks.page import Floats, Page, around
from stages.extraction.blocks.tags import NUMBER, Ints

# A block of running text: few links, and either sentences or many words.
FEW_LINKS, SENTENCE_WORDS, MANY_WORDS = 0.35, 5, 15
AROUND = ("main nav header footer aside article form figure section ul li pre h2 h3 table blockquote noscript").split()
COUNTED = ("p img h2 h3 li main article time td pre table form").split()
FAR = 100.0  # blocks from which a distance is not told apart
NEAR = (4, 12)  # blocks up to which neighbours are summed up

# Of what the elements around a block hold: how much, and of which of them by level.
_BOX = {
    "share": range(6),
    "prose": range(6),
    "words": (0, 2, 3, 4),
    "link": range(5),
    "mean": (1, 2, 3, 4),
    "stops": (2, 3, 4),
    "dense": (1, 2, 3),
}
_BOX_ROW = np.array([row for row, levels in enumerate(_BOX.values()) for _ in levels])[:, None]
_BOX_LEVEL = np.array([level for levels in _BOX.values() for level in levels])
_BESIDE = {"tag0": (-2, -1, 1, 2), "words": (-1, 1), "link": (-1, 1), "stops": (-1, 1)}

GROUPS = {
    "own": "words ink link word_length digits capitals points symbols stops commas pieces hidden".split(),
    "named": [
        *(f"name{level}" for level in range(5)),
        *(f"tag{level}" for level in range(4)),
        "names_least",
        "names_most",
        "names_near",
        "names_all",
    ],
    "box": [f"box_{name}{level}" for name, levels in _BOX.items() for level in levels],
    "in": [f"in_{tag}" for tag in AROUND],
    "position": "depth at at_words before after prose_before prose_after from_title from_longest".split(),
    "alike": [f"alike_{name}" for name in ("count", "words", "link", "stops", "share", "prose")],
    "beside": [f"{name}{by:+d}" for name, steps in _BESIDE.items() for by in steps],
    "near": [f"near_{name}{radius}" for radius in NEAR for name in ("words", "link", "prose")],
    "page": [
        *(f"page_{name}" for name in ("words", "blocks", "link", "prose", "stops", "longest")),
        *(f"page_{tag}" for tag in COUNTED),
    ],
    "kind": declared_kind.NAMES,
}
NAMES = [name for group in GROUPS.values() for name in group]


def _places() -> dict[str, slice]:
    ends = np.cumsum([len(group) for group in GROUPS.values()]).tolist()
    return {name: slice(end - len(GROUPS[name]), end) for name, end in zip(GROUPS, ends)}


_PLACES = _places()
_ROW = {name: row for row, name in enumerate(NAMES)}
_AROUND_ROW = np.full(len(NUMBER) + 1, -1)
_AROUND_ROW[[NUMBER[tag] for tag in AROUND]] = range(len(AROUND))
_COUNTED = [NUMBER[tag] for tag in COUNTED]


class Described(NamedTuple):
    """What is known of a page's blocks."""

    matrix: NDArray[np.float32]  # (NAMES, blocks)
    group: Ints  # a number for each block, equal where blocks look alike


def features(page: Page, ballot: names.Ballot) -> Described:
    """The features of a page's blocks; `ballot` holds the votes of class words and tags."""
    called = names.of(page)
    votes = names.votes(page, called, ballot)
    sums = _RunningSums(page)
    group = alike(page, called)
    matrix = np.empty((len(NAMES), page.count), np.float32)
    made: dict[str, Floats | list[Floats]] = {
        "own": _own(page, names.hidden(page, called)),
        "named": _named(page, votes),
        "box": _containers(page, sums),
        "in": _around(page),
        "position": _position(page, sums),
        "alike": _repeated(page, group, sums),
        "near": _near(sums),
        "page": _of_page(page, sums),
        "kind": declared_kind.kind(page.stream.said),
    }
    for name, values in made.items():
        matrix[_PLACES[name]] = values
    _beside(matrix)
    return Described(matrix, group)


def share(part: Floats, total: Floats | float) -> Floats:
    """A part of a whole, 0 of nothing."""
    return np.asarray(part / np.maximum(total, 1.0))


def running(values: Floats) -> Floats:
    """Sums up to each block, and over all, of each row."""
    sums = np.zeros((*values.shape[:-1], values.shape[-1] + 1))
    np.cumsum(values, axis=-1, out=sums[..., 1:])
    return sums


class _RunningSums:
    """Running sums over a page's blocks: words, those in links, sentence ends, words of running text."""

    def __init__(self, page: Page) -> None:
        stops, commas = page.kinds[STOP], page.kinds[COMMA]
        sentences = (stops + commas > 0) & (page.words >= SENTENCE_WORDS)
        flowing = (page.linked < FEW_LINKS * page.words) & (sentences | (page.words >= MANY_WORDS))
        self.prose = np.where(flowing, page.words, 0.0)
        self.all = running(np.array([page.words, page.linked, stops, self.prose]))
        self.words, _, _, self.proses = self.all
        self.total = self.all[:, -1].tolist()  # words, linked, stops, words of running text


def _own(page: Page, hidden: NDArray[np.bool_]) -> list[Floats]:
    kinds, words = page.kinds, page.words
    ink = np.maximum(kinds.sum(0) - kinds[SPACE], 1.0)
    return [
        words,
        ink,
        share(page.linked, words),
        share(ink, words),
        *(kinds[[DIGIT, UPPER, POINT, SYMBOL]] / ink),
        kinds[STOP],
        share(kinds[COMMA], words),
        page.pieces,
        hidden,
    ]


def _named(page: Page, votes: names.Votes) -> list[Floats]:
    above = page.above
    means = votes.mean[above]
    return [
        *means[:5],
        *votes.tag[above[:4]],
        votes.least[above].min(0),
        votes.most[above].max(0),
        means.sum(0),
        around(page.elements, votes.mean, page.count),
    ]


def _around(page: Page) -> Floats:
    """How many elements of each tag of AROUND a block stands in: (tags, blocks)."""
    row = _AROUND_ROW[page.elements.tag]
    known = row >= 0
    row, size = row[known] * (page.count + 1), page.count + 1
    begin = np.bincount(row + page.elements.first[known], minlength=len(AROUND) * size)
    end = np.bincount(row + page.elements.last[known], minlength=len(AROUND) * size)
    return np.asarray(np.cumsum((begin - end).reshape(len(AROUND), size), axis=1)[:, :-1])


def _containers(page: Page, sums: _RunningSums) -> Floats:
    """Of the elements around a block: what they hold, and how much of the page's."""
    first, last = page.elements.first, page.elements.last
    words, linked, stops, prose = sums.all[:, last] - sums.all[:, first]
    least = np.maximum(words, 1.0)
    values = np.array(
        [
            words / max(sums.total[0], 1.0),
            prose / max(sums.total[3], 1.0),
            words,
            linked / least,
            words / np.maximum(last - first, 1),
            stops / least,
            prose / least,
        ]
    )
    return np.asarray(values[_BOX_ROW, page.above[_BOX_LEVEL]])


def _position(page: Page, sums: _RunningSums) -> list[Floats]:
    number = np.arange(page.count)
    titles = np.flatnonzero((page.stream.tag == NUMBER["h1"]) & (page.stream.step == 1))
    title = np.searchsorted(page.place, titles[0]) if len(titles) else None
    before, proses = sums.words[:-1], sums.proses / max(sums.total[3], 1.0)
    return [
        page.depth,
        number / page.count,
        before / max(sums.total[0], 1.0),
        before,
        sums.total[0] - sums.words[1:],
        proses[:-1],
        proses[-1] - proses[1:],
        np.full(page.count, -FAR) if title is None else np.clip(number - title, 1 - FAR, FAR),
        np.clip(number - int(np.argmax(sums.prose)), -FAR, FAR),
    ]


def alike(page: Page, called: names.Called) -> Ints:
    """A number for each block, equal where it and the two elements above it are called the same."""
    one = names.hashes(page, called) + page.elements.tag
    key = np.zeros(page.count, np.int64)
    for level in range(3):
        key = key * 1_000_003 + one[page.above[level]]  # overflow is fine: it is a hash
    return np.asarray(np.unique(key, return_inverse=True)[1])


def _repeated(page: Page, group: Ints, sums: _RunningSums) -> Floats:
    """Of all blocks that look like this one."""
    count, words, linked, stops, prose = (
        np.bincount(group, weights) for weights in (None, page.words, page.linked, page.kinds[STOP], sums.prose)
    )
    least = np.maximum(words, 1.0)
    values = np.array(
        [
            count,
            words / count,
            linked / least,
            stops / least,
            words / max(sums.total[0], 1.0),
            prose / max(sums.total[3], 1.0),
        ]
    )
    return np.asarray(values[:, group])


def shift(
    rows: NDArray[np.float32], values: Floats | NDArray[np.float32], steps: tuple[int, ...], nothing: float
) -> None:
    """Writes into each row the values of the blocks so many further on."""
    count = len(values)
    for row, by in zip(rows, steps):
        low, high = max(-by, 0), count - max(by, 0)
        row[:low] = row[max(high, 0) :] = nothing
        if low < high:
            row[low:high] = values[low + by : high + by]


def _beside(matrix: NDArray[np.float32]) -> None:
    """Writes what the neighbours of each block are told."""
    rows = matrix[_PLACES["beside"]]
    at = 0
    for name, steps in _BESIDE.items():
        shift(rows[at : at + len(steps)], matrix[_ROW[name]], steps, 0.0)
        at += len(steps)


def window(sums: Floats, radius: int) -> Floats:
    """Sums over the blocks up to so many away, of each row."""
    number = np.arange(sums.shape[-1] - 1)
    return np.asarray(
        sums[..., np.minimum(number + radius + 1, len(number))] - sums[..., np.maximum(number - radius, 0)]
    )


def _near(sums: _RunningSums) -> list[Floats]:
    rows = []
    for radius in NEAR:
        words, linked, prose = window(sums.all[[0, 1, 3]], radius)
        least = np.maximum(words, 1.0)
        rows += [words, linked / least, prose / least]
    return rows


def _of_page(page: Page, sums: _RunningSums) -> Floats:
    """Of the page."""
    words, linked, stops, prose = sums.total
    total = max(words, 1.0)
    opened = np.bincount(page.stream.tag[page.stream.step >= 0], minlength=len(NUMBER) + 1)
    values = [total, page.count, linked / total, prose / total, stops / total, float(page.words.max())]
    return np.array([*values, *opened[_COUNTED].tolist()])[:, None]
