"""Derives `stages/languages/table.tsv`: `python bench/derive_languages.py CONFIGS SHARE > stages/languages/table.tsv`.

Needs `pip install wordfreq pythainlp pyyaml lxml` in an environment of its own, and

- CONFIGS: the folder `configs/` of huggingface/fineweb-2 (Apache 2.0), from which the limits are: one file a language;
- SHARE: `/usr/share` with the Debian packages gnome-user-docs (CC BY-SA 3.0), the same help pages in many languages,
  and for two that it has not (enough of), debian-handbook (GPL 2, CC BY-SA 3.0).

What is derived here and not taken over:

- stop words: the most frequent words of wordfreq (Speer 2022; CC BY-SA 4.0), of Thai those of the Thai Textbook Corpus
  in PyThaiNLP (CC0), letters only, without single Latin letters and without the most frequent English words;
- limits of the mean word length: Gopher's for English, 3 and 10, times how much longer words are in the same text
  than in English, since FineWeb-2's belong to other tokenisers. None for scripts without spaces.
"""

import importlib.resources
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

HANDBOOK = "doc/debian-handbook/html/"
PARAGRAPH = "//*[local-name()='p'] | //div[@class='para']"
LANGUAGES = {  # ISO 639-1: FineWeb-2's name, the folder of translated text, where stop words are looked for
    "ar": ("arb_Arab", HANDBOOK + "ar-MA", "words"),
    "cs": ("ces_Latn", "cs", "words"),
    "de": ("deu_Latn", "de", "words"),
    "es": ("spa_Latn", "es", "words"),
    "fa": ("fas_Arab", "fa", "words"),
    "fr": ("fra_Latn", "fr", "words"),
    "hi": ("hin_Deva", "hi", "words"),
    "id": ("ind_Latn", "id", "words"),
    "it": ("ita_Latn", "it", "words"),
    "ja": ("jpn_Jpan", "ja", "text"),
    "ko": ("kor_Hang", "ko", "text"),  # its little words hang on others
    "nl": ("nld_Latn", "nl", "words"),
    "pl": ("pol_Latn", "pl", "words"),
    "pt": ("por_Latn", "pt_BR", "words"),
    "ru": ("rus_Cyrl", "ru", "words"),
    "th": ("tha_Thai", "", "text"),
    "tr": ("tur_Latn", HANDBOOK + "tr-TR", "words"),
    "uk": ("ukr_Cyrl", "uk", "words"),
    "vi": ("vie_Latn", "vi", "words"),
    "zh": ("cmn_Hani", "zh_CN", "text"),
}
UNSPACED = ("ja", "th", "zh")
COUNT, ENGLISH_OUT = 15, 15
GOPHER_LENGTHS = 3.0, 10.0
COLUMNS = (
    "language",
    "stop_words_in",
    "min_language_score",
    "max_duplicate_line_ratio",
    *(f"max_top_{n}_gram_ratio" for n in (2, 3, 4)),
    *(f"max_duplicate_{n}_gram_ratio" for n in range(5, 11)),
    "min_end_mark_line_ratio",
    "max_line_break_ratio",
    "min_alphabetic_word_ratio",
    "min_mean_word_length",
    "max_mean_word_length",
    "stop_words",
)
ENGLISH = {  # Gopher's (Rae et al. 2021, A1.1 and table A1) and FineWeb's (Penedo et al. 2024, 3.6)
    "language": "en",
    "stop_words_in": "words",
    "min_language_score": 0.65,
    "max_duplicate_line_ratio": 0.3,
    "max_top_2_gram_ratio": 0.2,
    "max_top_3_gram_ratio": 0.18,
    "max_top_4_gram_ratio": 0.16,
    **{f"max_duplicate_{n}_gram_ratio": round(0.2 - n / 100, 2) for n in range(5, 11)},
    "min_end_mark_line_ratio": 0.12,
    "max_line_break_ratio": 0.3,
    "min_alphabetic_word_ratio": 0.8,
    "min_mean_word_length": 3,
    "max_mean_word_length": 10,
    "stop_words": "the be to of and that have with",
}
HEAD = """\
# Limits and stop words by language, one row a language; a table of your own has the same columns, or some of them.
# An empty cell: as in the row that this one extends, or as the stage has it. A cell of - turns its rule off.
# Written by bench/derive_languages.py, which says where each column comes from: limits from FineWeb-2's configs (Apache
# 2.0; of en from the papers), stop words by wordfreq (CC BY-SA 4.0) and, for th, PyThaiNLP (CC0), word lengths scaled.
"""


def frequent(language: str) -> list[str]:
    """Words by falling frequency."""
    if language == "th":
        lines = importlib.resources.files("pythainlp.corpus").joinpath("ttc_freq.txt").read_text("utf-8").splitlines()
        counted = [(int(count), word) for word, _, count in (line.partition("\t") for line in lines)]
        return [word for _, word in sorted(counted, reverse=True)[:100]]
    from wordfreq import top_n_list

    return list(top_n_list(language, 100))


def stop_words(words: list[str], english: list[str]) -> list[str]:
    """The first of the words that are letters only, no single Latin letter and no frequent English word."""
    fit = [word for word in words if _is_word(word) and word not in english]
    return fit[:COUNT]


def _is_word(word: str) -> bool:
    """Letters with their marks (and the non-joiner of Persian); no single Latin letter."""
    kinds = {unicodedata.category(char)[0] for char in word.replace("\u200c", "")}
    return kinds <= {"L", "M"} and not (len(word) == 1 and word.isascii())


def scaled(ratio: float) -> tuple[float, float]:
    """Gopher's limits of the mean word length for words so many times as long as English ones."""
    low, high = GOPHER_LENGTHS
    return round(low * ratio, 1), round(high * ratio, 1)


def translated(share: Path, folder: str) -> Iterator[tuple[str, str]]:
    """Paragraphs in English and in another language, those that were translated."""
    from lxml import etree, html

    if folder.startswith(HANDBOOK):
        english, other, ending = share / HANDBOOK / "en-US", share / folder, "html"
    else:
        english, other, ending = share / "help/C/gnome-help", share / "help" / folder / "gnome-help", "page"
    for page in sorted(other.glob(f"*.{ending}")):
        if (english / page.name).exists():
            trees = [(html if ending == "html" else etree).parse(path) for path in (english / page.name, page)]
            texts = [["".join(p.itertext()) for p in tree.xpath(PARAGRAPH)] for tree in trees]
            if len(texts[0]) == len(texts[1]):
                yield from ((one, other) for one, other in zip(*texts) if _differ(one, other))


def _differ(one: str, other: str) -> bool:
    """Whether a paragraph was translated: less than half of its words are in the other."""
    words = set(one.split())
    return 2 * len(words & set(other.split())) < len(words)


def mean_length(texts: list[str]) -> float:
    """Characters a word at white space."""
    words = " ".join(texts).split()
    return sum(map(len, words)) / len(words)


def row(language: str, configs: Path, share: Path, english: list[str]) -> dict[str, object]:
    """The cells of one language."""
    import yaml

    name, folder, where = LANGUAGES[language]
    limits = yaml.safe_load((configs / f"{name}.yml").read_text("utf-8"))
    low, high = "-", "-"
    if language not in UNSPACED:
        pairs = list(translated(share, folder))
        ratio = mean_length([other for _, other in pairs]) / mean_length([one for one, _ in pairs])
        low, high = map(str, scaled(ratio))
        print(f"{language}: {len(pairs)} paragraphs, words {ratio:.3f} times as long", file=sys.stderr)
    return {
        "language": language,
        "stop_words_in": where,
        "min_language_score": limits["language_score"],
        "max_duplicate_line_ratio": limits["dup_line_frac"],
        **{f"max_top_{n}_gram_ratio": value for n, value in limits["top_n_grams"]},
        **{f"max_duplicate_{n}_gram_ratio": value for n, value in limits["dup_n_grams"]},
        "min_end_mark_line_ratio": limits["line_punct_thr"] or "-",
        "max_line_break_ratio": limits["new_line_ratio"],
        "min_alphabetic_word_ratio": limits["max_non_alpha_words_ratio"],
        "min_mean_word_length": low,
        "max_mean_word_length": high,
        "stop_words": " ".join(stop_words(frequent(language), english)),
    }


def main(configs: str, share: str) -> None:
    english = frequent("en")[:ENGLISH_OUT]
    rows = [ENGLISH, *(row(language, Path(configs), Path(share), english) for language in LANGUAGES)]
    print(HEAD + "\t".join(COLUMNS))
    for cells in rows:
        print("\t".join(str(cells.get(column, "")) for column in COLUMNS))


if __name__ == "__main__":
    main(*sys.argv[1:])
