"""Articles put together from the sentences in `texts/`: no two share more than a few runs of five words."""

import hashlib
import random
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TEXTS = Path(__file__).parent / "texts"
TOWNS = (
    "Aldworth Bramley Castleton Dunmore Eastwick Farnham Glenrock Hartley Inverlea Kelso Langport Millom "
    "Northam Otley Penrith Queensbury Redcar Selby Thornbury Ulverston Wexcombe Yarm"
).split()
NAMES = (
    "Agnes Moor,Ben Tully,Clara Voss,Dan Okafor,Edith Lane,Frank Bell,Grace Amadi,Hugh Parry,Irene Holt,"
    "Jack Sorley,Kate Brandt,Leo Finch,Mary Quill,Ned Harrow,Olive Strand,Paul Winter,Ruth Cooper,Sam Arden,"
    "Tess Millar,Una Drake,Vera Lind,Will Ashby"
).split(",")
MONTHS = "January February March April May June July August September October November December".split()
ZERO_WIDTH = "\u00ad\u200b\u200c\u200d\u2060\ufeff"


class Dice:
    """Random choices that rest on `random.random` alone, the one part of the module that never changes."""

    def __init__(self, seed: str) -> None:
        self.random = random.Random(int.from_bytes(hashlib.sha256(seed.encode()).digest()[:8], "big")).random

    def below(self, n: int) -> int:
        return int(self.random() * n)

    def one(self, items: list[str]) -> str:
        return items[self.below(len(items))]

    def some(self, items: list[str], n: int) -> list[str]:
        """`n` different items in random order."""
        rest = list(items)
        return [rest.pop(self.below(len(rest))) for _ in range(n)]


@dataclass(frozen=True)
class Topic:
    """What a group of articles is about: its words, and sentences that hold for it alone."""

    title: str
    words: dict[str, str]
    facts: list[str]


@dataclass(frozen=True)
class Article:
    """A title and paragraphs, the text that an extractor should find on the page."""

    title: str
    paragraphs: tuple[str, ...]
    language: str = "en"

    @property
    def text(self) -> str:
        return "\n".join(filter(None, (self.title, *self.paragraphs)))


def _sections(name: str) -> Iterator[tuple[str, list[str]]]:
    """The parts of a file in `texts/`: a heading that starts with `# `, and the lines below it."""
    for part in (TEXTS / name).read_text(encoding="utf-8").split("# ")[1:]:
        heading, *lines = part.strip().split("\n")
        yield heading, lines


def topics() -> list[Topic]:
    """All topics of `texts/topics.txt`."""
    found = []
    for heading, facts in _sections("topics.txt"):
        title, *words = heading.split(" | ")
        keys = ("thing", "things", "person", "place", "material", "tool")
        found.append(Topic(title, dict(zip(keys, words)), facts))
    return found


def languages() -> dict[str, list[str]]:
    """Ten sentences in each of the other languages, by ISO 639 code."""
    return dict(_sections("languages.txt"))


PATTERNS = (TEXTS / "patterns.txt").read_text(encoding="utf-8").strip().split("\n")


def _fill(pattern: str, topic: Topic, town: str, name: str, dice: Dice) -> str:
    words = dict(topic.words, town=town, name=name)
    for noun in ("thing", "person", "tool", "place"):
        article = "an" if words[noun][0] in "aeiou" else "a"
        pattern = pattern.replace(f"{{a {noun}}}", f"{article} {words[noun]}")
    year, n = str(1870 + dice.below(120)), str(11 + dice.below(320))
    sentence = pattern.format(**words, month=dice.one(MONTHS), year=year, n=n)
    return sentence[0].upper() + sentence[1:]


def article(topic: Topic, part: int, marks: bool = False) -> Article:
    """The `part`-th article (0, 1, 2) on a topic; `marks` puts in words that only the right charset shows.

    Parts 0 and 1 have the halves of the topic's facts, part 2 has none; the rest are filled patterns.
    """
    dice = Dice(f"{topic.title} {part}")
    facts = topic.facts[3 * part : 3 * part + 3] if part < 2 else []
    towns, names = dice.some(TOWNS, 3), dice.some(NAMES, 3)
    filled = [
        _fill(pattern, topic, dice.one(towns), dice.one(names), dice)
        for pattern in dice.some(PATTERNS, 12 - len(facts) + dice.below(5))
    ]
    sentences = list(filled)
    for fact in facts:
        sentences.insert(1 + dice.below(len(sentences) - 1), fact)
    if marks:
        sentences.insert(4, f"“The café’s naïve façade,” wrote {names[0]} – who paid £5 – “hides a piñata.”")
    title = f"{topic.title} {('near', 'around', 'of')[part]} {towns[0]}"
    return Article(title, tuple(" ".join(sentences[i : i + 4]) for i in range(0, len(sentences), 4)))


def normalized(text: str) -> str:
    """Text as copies are told: NFC, case folded, zero-width marks out, each run of white space one space."""
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
    return " ".join(folded.translate(dict.fromkeys(map(ord, ZERO_WIDTH))).split())


def jaccard(one: str, other: str) -> float:
    """Jaccard similarity of the sets of five-word shingles of two texts (Broder 1997)."""
    first, second = (
        {tuple(words[i : i + 5]) for i in range(max(1, len(words) - 4))}
        for words in (normalized(one).split(), normalized(other).split())
    )
    return len(first & second) / len(first | second)
