"""Our verdicts beside those of the original code: `python bench/peer_verdicts.py [--only NAME] [--show N]`.

Needs an environment of its own: this project, `datatrove[processing]`, `py-data-juicer`, and for DCLM and RedPajama-V2
checkouts of their repositories, in DCLM and REDPAJAMA. A peer that is not there is skipped. Prints a row for each rule
set: texts, equal verdicts, and what differs. The texts are made by `peer_texts.py`.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from peer_texts import made_texts

from curate.document import Address, Document, Drop
from stages.bad_words import BadWords
from stages.c4 import C4
from stages.fineweb import FineWeb
from stages.fix_unicode import FixUnicode
from stages.gopher import Gopher
from stages.line_rules import LineRules
from stages.repetition import Repetition
from stages.rewrite import Rewrite
from stages.signals import Signals
from stages.url_filter import UrlFilter
from stages.where import Where

Verdict = Callable[[str], Any]
Pair = tuple[str, Verdict, Verdict]  # name, ours, theirs


def page(text: str, url: str = "") -> Document:
    return Document(Address("web", "a.warc", 0), text=text, url=url)


def keeps(stage: Any) -> Verdict:
    return lambda text: not isinstance(stage.apply(page(text)), Drop)


def edits(stage: Any) -> Verdict:
    return lambda text: stage.clean(page(text)).text if hasattr(stage, "clean") else stage.apply(page(text)).text


def left(edit: Verdict) -> Verdict:
    """The words that an edit leaves."""
    return lambda text: edit(text).split()


def dclm() -> Iterator[Pair]:
    root = os.environ["DCLM"]
    sys.path[:0] = [root, f"{root}/baselines"]
    from baselines.mappers import modifiers
    from baselines.mappers.enrichers.enrichers import word_counter_enricher
    from baselines.mappers.filters import content_filters as filters

    cut = {"max_length": 10, "remove_substring_only": True}
    chain = [
        lambda p: word_counter_enricher(p, key="before"),
        lambda p: modifiers.uppercase_ratio_line_modifier(p, max_ratio=0.5),
        lambda p: modifiers.numeric_ratio_line_modifier(p, max_ratio=0.999999),
        modifiers.counter_line_modifier(),
        lambda p: modifiers.line_length_modifier(p, min_length=2),
        modifiers.substring_line_modifier("items in cart", **cut),
        modifiers.substring_line_modifier("Read more...", location="suffix", **cut),
        modifiers.substring_line_modifier("Sign-in", location="prefix", **cut),
        lambda p: filters.word_removal_ratio_filter(p, prev_word_count_key="before", max_removed_ratio=0.05),
    ]

    def through(text: str) -> Any:
        pages = [{"text": text}]
        for step in chain:
            pages = step(pages[0]) if pages else []
        return pages[0]["text"] if pages else None

    def ours(text: str) -> Any:
        kept = LineRules(profile="dclm").apply(page(text))
        return kept.text if isinstance(kept, Document) else None

    yield "line_rules dclm: text or drop", ours, through
    yield (
        "repetition dclm",
        keeps(Repetition(profile="dclm", max_repeats_in_a_row=None)),
        lambda text: bool(filters.massive_web_repetition_filters({"text": text})),
    )


def datatrove() -> Iterator[Pair]:
    from datatrove.data import Document as Theirs
    from datatrove.pipeline import filters
    from datatrove.pipeline.filters import c4_filters
    from datatrove.pipeline.formatters import FTFYFormatter

    def keep(stage: Any) -> Verdict:
        return lambda text: stage.filter(Theirs(text=text, id="")) is True

    repetition, quality = filters.GopherRepetitionFilter(), filters.GopherQualityFilter()
    off = {name: None for name in Gopher.limits if name.startswith(("max_duplicate", "max_top"))}
    yield (
        "repetition datatrove",
        keeps(Repetition(profile="datatrove", max_repeats_in_a_row=None)),
        keep(repetition),
    )
    yield "gopher datatrove, quality", keeps(Gopher(profile="datatrove", **off)), keep(quality)
    fineweb = filters.FineWebQualityFilter()
    yield "fineweb", keeps(FineWeb()), keep(fineweb)
    yield "fineweb, with datatrove's end marks", keeps(FineWeb(end_marks=tuple(fineweb.stop_chars))), keep(fineweb)
    yield "c4", keeps(C4()), keep(filters.C4QualityFilter())
    folder = tempfile.mkdtemp()
    listed = Path(folder, "en")
    listed.write_text("drat\ndash it\nx-rated\nlorem\n")
    c4_filters.cached_asset_path_or_download = lambda *_, **__: str(listed)
    yield "bad_words", keeps(BadWords(lists={"*": str(listed)})), keep(filters.C4BadWordsFilter())
    yield "fix_unicode: text", edits(FixUnicode()), FTFYFormatter().format
    yield from _urls(filters, Theirs)


def _urls(filters: Any, theirs: Any) -> Iterator[Pair]:
    lists = {
        "domains": ["spam.co.uk", "github.io", "bad.example.com"],
        "words": ["casino"],
        "soft": ["win", "cash", "free"],
        "subwords": ["freepills"],
        "urls": ["https://host.org/a/b"],
    }
    folder = Path(tempfile.mkdtemp())
    for name, entries in lists.items():
        (folder / name).write_text("\n".join(entries))
    stage = UrlFilter(
        domains=tuple(lists["domains"]),
        urls_file=str(folder / "urls"),
        words=("casino",),
        soft_words_file=str(folder / "soft"),
        subwords_file=str(folder / "subwords"),
    )
    peer = filters.URLFilter(
        soft_word_threshold=2,
        extra_domains=lists["domains"],
        extra_urls=lists["urls"],
        banned_words=lists["words"],
        banned_subwords=lists["subwords"],
        soft_banned_words=lists["soft"],
        use_integrated_lists=False,
    )
    from tldextract import TLDExtract

    peer.tldextractor = TLDExtract(suffix_list_urls=())
    hosts = (
        "spam.co.uk",
        "a.spam.co.uk",
        "good.co.uk",
        "github.io",
        "jo.github.io",
        "bad.example.com",
        "x.org",
        "host.org",
    )
    paths = ("", "a/b", "casino", "free-cash", "win", "winner", "free-pills/1", "my_casino.html", "cash/win/free")

    def url(text: str) -> str:
        return f"https://{hosts[len(text) % len(hosts)]}/{paths[len(text) // 8 % len(paths)]}"

    yield (
        "url_filter",
        lambda text: not isinstance(stage.apply(page(text, url(text))), Drop),
        lambda text: peer.filter(theirs(text=text, id="", metadata={"url": url(text)})) is True,
    )


def data_juicer() -> Iterator[Pair]:
    from data_juicer.ops import filter as filters
    from data_juicer.ops import mapper as mappers
    from data_juicer.utils.constant import Fields

    def keep(stage: Any) -> Verdict:
        def passes(text: str) -> bool:
            samples = {"text": [text], Fields.stats: [{}]}
            return bool(next(iter(stage.process_batched(stage.compute_stats_batched(samples)))))

        return passes

    def edit(stage: Any) -> Verdict:
        return lambda text: stage.process_batched({"text": [text]})["text"][0]

    for condition, stage in (
        ("characters between 200 and 2000", filters.TextLengthFilter(min_len=200, max_len=2000)),
        ("alphanumeric_ratio >= 0.75", filters.AlphanumericFilter(min_ratio=0.75)),
        ("special_character_ratio <= 0.25", filters.SpecialCharactersFilter(max_ratio=0.25)),
        ("mean_line_length between 60 and 200", filters.AverageLineLengthFilter(min_len=60, max_len=200)),
        ("longest_line between 100 and 300", filters.MaximumLineLengthFilter(min_len=100, max_len=300)),
        ("words between 50 and 500", filters.WordsNumFilter(min_num=50, max_num=500)),
        ("word_repetition_ratio <= 0.1", filters.WordRepetitionFilter(max_ratio=0.1)),
        ("character_repetition_ratio <= 0.1", filters.CharacterRepetitionFilter(max_ratio=0.1)),
    ):
        yield f"where: {condition}", keeps(Where(keep=condition)), keep(stage)
    for use, stage in (
        ("long_words", mappers.RemoveLongWordsMapper(max_len=30)),
        ("links", mappers.CleanLinksMapper()),
        ("repeated_sentences", mappers.RemoveRepeatSentencesMapper(lowercase=True, min_repeat_sentence_length=20)),
    ):
        yield f"rewrite {use}: words left", left(edits(Rewrite(use=(use,), max_word_length=30))), left(edit(stage))


def redpajama() -> Iterator[Pair]:
    sys.path.insert(0, f"{os.environ['REDPAJAMA']}/app/src")
    for name in [name for name in sys.modules if name.split(".")[0] == "core"]:  # DCLM has a package of that name too
        del sys.modules[name]
    from core.document import Document as Theirs
    from core.quality_signals import content, lines, natural_language, repetitions

    made = [
        *natural_language.register_natural_language_callables(),
        *repetitions.register_repetitions_callables(),
        content.RPS_Doc_Lorem_Ipsum(),
        content.RPS_Doc_Curly_Bracket(),
    ]
    of_lines = lines.register_lines_callables()
    last: dict[str, tuple[Any, Any]] = {}

    def both(text: str) -> tuple[Any, Any]:
        if text not in last:
            last.clear()
            last[text] = Signals(lines=True).apply(page(text)).attributes, Theirs(text, domain=None)  # type: ignore[union-attr]
        return last[text]

    for signal in made:
        name = type(signal).__name__.lower()
        yield name, partial(_ours, both, name), lambda text, signal=signal: signal(both(text)[1])[0][2]
    for signal in of_lines:
        name = type(signal).__name__.lower()
        theirs = lambda text, signal=signal: [value for _, _, value in signal(both(text)[1])]  # noqa: E731
        yield name, partial(_ours, both, name), theirs


def _ours(both: Callable[[str], tuple[Any, Any]], name: str, text: str) -> Any:
    return both(text)[0][name]


def main() -> None:
    asked = argparse.ArgumentParser()
    asked.add_argument("--only", default="")
    asked.add_argument("--show", type=int, default=0)
    asked.add_argument("--count", type=int, default=2_000)
    given = asked.parse_args()
    texts = [text for text in made_texts(given.count) if text]  # datatrove divides by zero where there is none
    print("| peer | rule set | texts | kept by the peer | equal |\n|---|---|---:|---:|---:|")
    for peer in (dclm, datatrove, data_juicer, redpajama):
        try:
            pairs = [pair for pair in peer() if given.only in f"{peer.__name__} {pair[0]}"]
        except (ImportError, KeyError) as error:
            print(f"| {peer.__name__} | not there: {error} | | | |")
            continue
        for name, ours, theirs in pairs:
            verdicts = [(text, ours(text), theirs(text)) for text in texts]
            same = sum(_same(one, two) for _, one, two in verdicts)
            kept = (
                sum(two is True for *_, two in verdicts) if all(isinstance(two, bool) for *_, two in verdicts) else ""
            )
            print(f"| {peer.__name__} | {name} | {len(verdicts):,} | {kept} | {same:,} |", flush=True)
            differ = [row for row in verdicts if not _same(row[1], row[2])]
            for text, one, two in differ[: given.show]:
                print(f"    ours {one!r:.200}\n    peer {two!r:.200}\n    text {text!r:.300}")


def _same(one: Any, two: Any) -> bool:
    """Equal; numbers to the seventh decimal, since sums in another order differ in the last digits."""
    if isinstance(one, float) and isinstance(two, float | int):
        return abs(one - two) < 2e-8
    if isinstance(one, list) and isinstance(two, list):
        return len(one) == len(two) and all(map(_same, one, two))
    return bool(one == two)


if __name__ == "__main__":
    main()
