"""Documents a second and core of each document stage at 500 words: `python bench/speed.py [--peers]`.

One table for all stages that look at one document and ask no model of the user's (those: `bench/models.py`; stages
that compare documents: `bench/decide.py`, `bench/pairs.py`). The documents are those of `bench/rules.py`, 500 words
each, half of them with links, addresses and lines that rules look for. Each stage gets a document without cached
words. CPU time of this process, best of five rounds. With `--peers`, in an environment that has them, the peers' own
code on the same texts, and one stage of ours as a yardstick between both tables.
"""

import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from rules import ROUNDS, made_documents

from curate.document import Address, Document
from stages.bad_words import BadWords
from stages.c4 import C4
from stages.fineweb import FineWeb
from stages.fix_unicode import FixUnicode
from stages.gopher import PROFILES, Gopher
from stages.language import Language
from stages.line_rules import LineRules
from stages.pii import Pii
from stages.repetition import Repetition
from stages.rewrite import Replacement, Rewrite
from stages.signals import Signals
from stages.tokens import Tokens
from stages.url_filter import UrlFilter
from stages.where import Where

WORDS, COUNT, LEAST = 500, 200, 2_000
YARDSTICK = "gopher paper"
ODD = (
    "See https://site.example/a?b=1 now",
    "mail jo@kern-mail.net",
    "call +49 30 901820",
    "from 93.184.216.34",
    "3 likes",
    "Read more...",
    "ALL IN CAPITALS",
    "— “so” …",
    "naïve Straße",
    "2023-10-12",
)


def texts() -> list[str]:
    """The documents: every second one with an odd line or two."""
    draw = random.Random(2)
    found = made_documents(COUNT, WORDS)
    for place in range(0, COUNT, 2):
        lines = found[place].split("\n")
        for _ in range(2):
            lines.insert(draw.randrange(len(lines) + 1), draw.choice(ODD))
        found[place] = "\n".join(lines)
    return found


def ours(folder: Path) -> Iterator[tuple[str, Any]]:
    """Every stage, by its config word and the options that matter for its speed."""
    listed = folder / "list.txt"
    single, phrases = [f"bad{number}" for number in range(200)], [f"bad phrase {number}" for number in range(200)]
    listed.write_text("\n".join([*single, *phrases]))
    lists = {"*": str(listed)}
    patterns = tuple(Replacement(pattern=rf"(?i)word{number}[a-z]+\b", name=f"p{number}") for number in range(3))
    condition = "characters between 200 and 100000 and digit_ratio < 0.2"
    yield "url_filter", UrlFilter(domains=("spam.example",), words=("casino",))
    yield "language", Language(keep=("en",))
    for profile in PROFILES:
        yield f"gopher {profile}", Gopher(profile=profile)
    for profile in PROFILES:
        yield f"repetition {profile}", Repetition(profile=profile)
    yield "c4", C4()
    yield "fineweb", FineWeb()
    yield "line_rules", LineRules()
    yield "line_rules dclm", LineRules(profile="dclm")
    yield "bad_words", BadWords(lists=lists)
    yield "pii", Pii()
    yield "signals", Signals()
    yield "signals lines", Signals(lines=True)
    yield "where", Where(keep=condition)
    yield (
        "rewrite, all built in",
        Rewrite(use=("links", "copyright_heads", "bibliographies", "long_words", "repeated_sentences", "white_space")),
    )
    yield "rewrite, three patterns", Rewrite(patterns=patterns)
    yield "fix_unicode", FixUnicode()
    yield "tokens (estimate)", Tokens()


def peers() -> Iterator[tuple[str, Callable[[str], Any]]]:
    """The peers' own code for the same work, where it is installed; RedPajama-V2's signals all together."""
    from peer_verdicts import data_juicer, datatrove, dclm, redpajama

    for peer in (datatrove, dclm, data_juicer):
        try:
            for name, _, theirs in peer():
                yield f"{peer.__name__}: {name}", theirs
        except (ImportError, KeyError) as error:
            print(f"{peer.__name__} is not there ({error})", file=sys.stderr)
    try:
        signals = [theirs for _, _, theirs in redpajama()]
        yield "redpajama: all signals", lambda text: [signal(text) for signal in signals]
    except (ImportError, KeyError) as error:
        print(f"redpajama is not there ({error})", file=sys.stderr)


def a_second(work: Callable[[Any], object], items: Callable[[], list[Any]]) -> float:
    """Items a second of CPU time, the best round."""
    best = float("inf")
    for _ in range(ROUNDS):
        fresh = items()
        start = time.process_time()
        for item in fresh:
            work(item)
        best = min(best, time.process_time() - start)
    return COUNT / best


def main() -> None:
    made = texts()

    def documents() -> list[Document]:
        return [
            Document(Address("web", "a.warc.gz", number), url=f"https://site{number}.example/page", text=text)
            for number, text in enumerate(made)
        ]

    print("| stage | documents/s at 500 words | |\n|---|---:|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, stage in ours(Path(folder)):
            if "--peers" in sys.argv and name != YARDSTICK:
                continue
            speed = a_second(stage.apply, documents)
            print(f"| `{name}` | {speed:,.0f} | {'' if speed >= LEAST else 'slower than asked'} |", flush=True)
        if "--peers" in sys.argv:
            for name, theirs in peers():
                print(f"| {name} | {a_second(theirs, lambda: list(made)):,.0f} | |", flush=True)


if __name__ == "__main__":
    main()
