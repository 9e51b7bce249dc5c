"""Made-up texts with near copies: edited families, chains, pages of one template; and how alike they are."""

import random
from typing import Any

import numpy as np

from curate.document import Document
from stages.near_dedup import NearDedup

WORDS = (
    "amber basin cedar delta ember fjord grove haven inlet jetty knoll ledge mesa notch oasis pier quarry ridge "
    "shoal tarn upland vale weir yard zenith arch barn crypt dome eaves forge gate"
).split()


def words(rng: random.Random, count: int) -> list[str]:
    return [rng.choice(WORDS) + str(rng.randrange(40)) for _ in range(count)]


def edited(rng: random.Random, text: list[str], changes: int) -> list[str]:
    """The text with some of its words replaced."""
    new = list(text)
    for place in rng.sample(range(len(text)), changes):
        new[place] = rng.choice(WORDS) + "x" + str(rng.randrange(1000))
    return new


def families(rng: random.Random, count: int, length: int = 120) -> list[str]:
    """Families of up to five variants of a text, more and more edited, in random order."""
    texts = []
    for _ in range(count):
        first = words(rng, length)
        texts += [" ".join(edited(rng, first, changes)) for changes in (0, 1, 2, 4, 8)[: rng.randrange(1, 6)]]
    rng.shuffle(texts)
    return texts


def template_site(rng: random.Random, pages: int, frame: int = 150, own: tuple[int, int] = (10, 60)) -> list[str]:
    """Pages that share a frame of words and differ in a part of their own: similarities on both sides of 0.8."""
    shared = words(rng, frame)
    return [" ".join(shared + words(rng, rng.randint(*own))) for _ in range(pages)]


def chain(rng: random.Random, links: int, length: int = 200, changes: int = 2) -> list[str]:
    """Each text is the one before with a few words replaced: neighbours alike, ends unlike."""
    text = words(rng, length)
    texts = [" ".join(text)]
    for link in range(links - 1):
        text = list(text)
        for place in range(changes):
            text[(link * changes + place) * 7 % length] = f"link{link}x{place}"
        texts.append(" ".join(text))
    return texts


def signatures(stage: NearDedup, docs: list[Document]) -> Any:
    return np.concatenate([sketch.record["signature"] for sketch in stage.sketch_all(docs)])  # type: ignore[index]


def similar(stage: NearDedup, docs: list[Document]) -> Any:
    """The matrix of estimated similarities, brute force; a text without words is like nothing."""
    held = signatures(stage, docs)
    matrix = np.array([(held == row).sum(axis=1) / stage.permutations for row in held])
    empty = [not doc.normalized for doc in docs]
    matrix[empty, :] = matrix[:, empty] = 0.0
    return matrix
