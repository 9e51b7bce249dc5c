"""From labelled pages to a model: votes of class words, a first set of trees, and a second over its answers."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import unescape
from typing import ClassVar

import numpy as np
import xxhash
from numpy.typing import NDArray

from stages.extraction.blocks import features as f
from stages.extraction.blocks import names
from stages.extraction.blocks.layout import block_texts
from stages.extraction.blocks.model import BlocksModel, again
from stages.extraction.blocks.page import Floats, Page, page
from stages.extraction.blocks.stream import stream
from stages.extraction.blocks.tags import TAGS
from stages.extraction.blocks.words import words as words_in
from stages.extraction.training.boosting import Boosting
from stages.extraction.training.labels import labels, words_of

LEAST_GROUPS, DOUBT = 4, 4.0  # groups that must use a word, and groups' worth of no opinion added to its vote
LITTLE = 0.003  # share of a page's words under which a word's elements say little of it
LONG, ONE_IN = 10, 4  # blocks with fewer words are many: one in four is learnt from, with four times the weight
FEWEST = 10  # sites that a training needs
SECOND_LEVEL = frozenset("ac co com edu go gob gov govt ne net nhs or org sch".split())
INNER = 3  # parts that the first trees are made for, so that the second ones see honest answers

Votes = dict[str, dict[str, float]]  # word -> group -> vote


@dataclass(frozen=True, slots=True)
class Example:
    """A labelled page."""

    group: str  # pages of one group (a registered domain) are never on both sides of a judgement
    page: Page
    label: Floats  # share of each block's words in the true text


def example(group: str, source: str, truth: str) -> Example | None:
    """A labelled page, None where it has no text or the truth none."""
    html, true = source.encode("utf-8", "replace"), words_of(truth)
    blocks = page(stream(html))
    if blocks is None or not true:
        return None
    texts = [words_of(unescape(text)) for text in block_texts(blocks)]
    return Example(group, blocks, labels(texts, true))


@dataclass(frozen=True)
class Teacher:
    """What is done with examples."""

    boosting: Boosting = field(default_factory=Boosting)

    def train(self, examples: Sequence[Example], about: str) -> BlocksModel:
        """The model of these examples."""
        cast = votes(examples)
        table = tally(cast)
        sums = {word: sum(cast[word].values()) for word in table}
        ballot = names.Ballot(table)
        described = [f.features(e.page, ballot.but(revised(sums, cast, e.group))) for e in examples]
        lessons = Lessons.of(examples, [each.matrix for each in described])
        first = self.boosting.fit(*lessons.all())
        answers = self._honest(lessons)
        seen = [again(e.page, each, answer) for e, each, answer in zip(examples, described, answers)]
        return BlocksModel(about, table, first, self.boosting.fit(*Lessons.of(examples, seen).all()))

    def _honest(self, lessons: "Lessons") -> list[Floats]:
        """First answers on each page by trees that saw no page of its group."""
        part = [xxhash.xxh3_64_intdigest(e.group.encode()) % INNER for e in lessons.examples]
        answers: list[Floats] = [np.zeros(0)] * len(part)
        for held in range(INNER):
            trees = self.boosting.fit(*lessons.all([each != held for each in part]))
            for number in np.flatnonzero(np.array(part) == held).tolist():
                answers[number] = trees.probability(np.ascontiguousarray(lessons.rows[number].T))
        return answers


@dataclass(frozen=True, slots=True)
class Lessons:
    """What trees learn from: of each example a matrix (blocks, features) and the weights of its blocks."""

    examples: Sequence[Example]
    rows: Sequence[NDArray[np.float32]]
    weights: Sequence[Floats]

    @classmethod
    def of(cls, examples: Sequence[Example], matrices: Sequence[NDArray[np.float32]]) -> "Lessons":
        """The lessons of examples and their features (features, blocks)."""
        return cls(examples, [each.T for each in matrices], [_weights(e.page) for e in examples])

    def all(self, chosen: Sequence[bool] | None = None) -> tuple[NDArray[np.float32], Floats, Floats]:
        """Rows, labels and weights of the chosen examples, null for all; blocks without weight are left out."""
        numbers = [number for number in range(len(self.examples)) if chosen is None or chosen[number]]
        kept = [self.weights[number] > 0 for number in numbers]
        return (
            np.concatenate([self.rows[number][keep] for number, keep in zip(numbers, kept)]),
            np.concatenate([self.examples[number].label[keep] for number, keep in zip(numbers, kept)]),
            np.concatenate([self.weights[number][keep] for number, keep in zip(numbers, kept)]),
        )


def _weights(blocks: Page) -> Floats:
    """Each page weighs alike, each block by its words; 0 for the short ones that are left out."""
    weight = (blocks.words + 0.5) / (blocks.words + 0.5).sum()
    random = np.random.default_rng(blocks.count)
    short = blocks.words < LONG
    return np.where(short, np.where(random.random(blocks.count) < 1 / ONE_IN, weight * ONE_IN, 0.0), weight)


def votes(examples: Iterable[Example]) -> Votes:
    """Of each word of classes and each tag, by group: how much more than the group's pages its elements are content."""
    by_group: dict[str, list[Example]] = defaultdict(list)
    for each in examples:
        by_group[each.group].append(each)
    cast: Votes = defaultdict(dict)
    for group, members in sorted(by_group.items()):
        true: dict[str, float] = defaultdict(float)
        held: dict[str, float] = defaultdict(float)
        prior = sum(_count(each, true, held) for each in members) / len(members)
        for word, amount in held.items():
            cast[word][group] = (true[word] + prior * LITTLE) / (amount + LITTLE) - prior
    return cast


def _count(e: Example, true: dict[str, float], held: dict[str, float]) -> float:
    """Adds the shares of a page's words under each word's elements, all and true ones; the page's true share."""
    elements, total = e.page.elements, max(float(e.page.words.sum()), 1.0)
    words, right = f.running(e.page.words) / total, f.running(e.page.words * e.label) / total
    under, good = words[elements.last] - words[elements.first], right[elements.last] - right[elements.first]
    called = names.of(e.page)
    for number in np.flatnonzero(under[:-1] > 0).tolist():
        for word in (
            *dict.fromkeys(words_in(called.written(number))),
            f"<{TAGS[elements.tag[number]]}>",
        ):
            held[word] += float(under[number])
            true[word] += float(good[number])
    return float(right[-1])


def tally(cast: Votes) -> dict[str, float]:
    """The votes over all groups, of the words that enough of them use."""
    counted = {word: by for word, by in cast.items() if len(by) >= LEAST_GROUPS}
    return {word: round(sum(by.values()) / (len(by) + DOUBT), 3) for word, by in counted.items()}


def revised(sums: Mapping[str, float], cast: Votes, group: str) -> dict[str, float]:
    """The votes that would be others if a group had cast none: a page must not be taught by its own labels."""
    own = {word: by[group] for word in sums if group in (by := cast[word])}
    return {word: (sums[word] - vote) / (len(cast[word]) - 1 + DOUBT) for word, vote in own.items()}


@dataclass
class ExtractorTrainer:
    """Makes a model of labelled pages; what `curate train extractor` calls."""

    about: str = ""
    teacher: Teacher = field(default_factory=Teacher)

    makes: ClassVar[str] = "extractor"

    def __post_init__(self) -> None:
        self.examples: list[Example] = []

    def add(self, url: str, html: str, text: str) -> None:
        """Learns a page. Raises ValueError where it or its true text has no words."""
        made = example(registered(url), html, text)
        if made is None:
            raise ValueError("holds no text, or its true text holds none")
        self.examples.append(made)

    def finish(self) -> BlocksModel:
        """The model of the pages added, in whatever order. Raises ValueError for too few."""
        groups = {each.group for each in self.examples}
        if len(groups) < FEWEST:
            raise ValueError(f"holds pages of {len(groups)} sites; a training needs {FEWEST}, give more")
        ordered = sorted(self.examples, key=lambda e: (e.group, e.page.stream.source, e.page.stream.said))
        counted = f"{len(ordered)} labelled pages of {len(groups)} sites"
        return self.teacher.train(ordered, f"{self.about}: {counted}" if self.about else counted)


def registered(url: str) -> str:
    """The name that a page's domain was registered under, without what is common to all of a country."""
    labels = re.sub(r"^[a-z]+://", "", url.lower()).split("/")[0].split(":")[0].strip(".").split(".")
    ends = 3 if len(labels) > 2 and len(labels[-1]) == 2 and labels[-2] in SECOND_LEVEL else 2
    return labels[-ends] if len(labels) >= ends else labels[0]
