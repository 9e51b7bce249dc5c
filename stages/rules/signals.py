"""RedPajama-V2's quality signals of one text (Weber et al. 2024; togethercomputer/RedPajama-Data 6d2cee9).

The normal text has no ASCII punctuation, is in lower case, its white space single blanks, then decomposed (NFD);
normal words are its pieces between blanks. Raw words are runs of word characters and runs of marks (NLTK's WordPunct).
Ratios are rounded to eight decimals, as there.
"""

import math
import re
import string
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from stages.rules.n_grams import DUPLICATE_SIZES, TOP_SIZES, NGrams

DOCUMENT = (
    "rps_doc_num_sentences",
    "rps_doc_word_count",
    "rps_doc_mean_word_length",
    "rps_doc_symbol_to_word_ratio",
    "rps_doc_frac_lines_end_with_ellipsis",
    "rps_doc_frac_no_alph_words",
    "rps_doc_frac_unique_words",
    "rps_doc_unigram_entropy",
    "rps_doc_frac_all_caps_words",
    "rps_doc_lorem_ipsum",
    "rps_doc_curly_bracket",
    "rps_doc_ldnoobw_words",
    "rps_doc_stop_word_fraction",
    *(f"rps_doc_frac_chars_top_{size}gram" for size in TOP_SIZES),
    *(f"rps_doc_frac_chars_dupe_{size}grams" for size in DUPLICATE_SIZES),
    "ccnet_length",
    "ccnet_nlines",
)
LINES = (
    "rps_lines_javascript_counts",
    "rps_lines_ending_with_terminal_punctution_mark",  # spelt as there
    "rps_lines_num_words",
    "rps_lines_uppercase_letter_fraction",
    "rps_lines_numerical_chars_fraction",
    "rps_lines_start_with_bulletpoint",
)
TYPES: Mapping[str, pa.DataType] = dict.fromkeys(DOCUMENT, pa.float64())
LINE_TYPES: Mapping[str, pa.DataType] = dict.fromkeys(LINES, pa.list_(pa.float64()))

_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_RAW_WORD = re.compile(r"\w+|[^\w\s]+")
_WITH_A_LETTER = re.compile(r"\w*?[A-Za-z]\w*")
_SENTENCE = re.compile(r"\b[^.!?]+[.!?]*")
_LINE = re.compile(r"[^\n]*\n|[^\n]+$")
_BULLETS = tuple("\u2022\u2023\u25b6\u25c0\u25e6\u25a0\u25a1\u25aa\u25ab\u2013")


def normal(text: str) -> str:
    """The normal text."""
    return unicodedata.normalize("NFD", " ".join(text.translate(_NO_PUNCTUATION).lower().split()))


def _share(part: float, total: float) -> float | None:
    return round(part / total, 8) if total else None


def _entropy(words: Sequence[str]) -> float | None:
    """Of the distribution of words, in nats."""
    total = len(words)
    alike = Counter(Counter(words).values()).items()  # words that stand as often as each other add the same
    return round(-sum(n * count / total * math.log(count / total) for count, n in alike), 8) if total else None


def entries_met(words: Sequence[str], entries: frozenset[str]) -> int:
    """How often runs of normal words are entries of a list."""
    return sum(
        " ".join(words[start : start + size]) in entries
        for size in {1 + entry.count(" ") for entry in entries}
        for start in range(len(words) - size + 1)
    )


def _repetition(words: Sequence[str]) -> dict[str, float]:
    grams = NGrams(words)
    found = dict.fromkeys((name for name in DOCUMENT if "_chars_" in name), 0.0)
    for size, repeats in grams.repeats.items():
        if size in TOP_SIZES:
            covered = int(grams.lengths(grams.most_frequent(size), size).sum())
            found[f"rps_doc_frac_chars_top_{size}gram"] = round(covered / grams.characters, 8)
        else:
            covered = grams.covered(np.sort(repeats.places), size)
            found[f"rps_doc_frac_chars_dupe_{size}grams"] = round(covered / grams.characters, 8)
    return found


def of_document(text: str, bad_words: frozenset[str] | None, stop_words: frozenset[str] | None) -> dict[str, Any]:
    """All of `DOCUMENT`; None where the text has nothing to count, or the list is not given."""
    smooth, lines = normal(text), _LINE.findall(text)
    words, raw = smooth.split(), _RAW_WORD.findall(text)
    symbols = text.count("#") + text.count("...") + text.count("…")
    letters = _share(len(_WITH_A_LETTER.findall(text)), len(raw))
    stops = None if stop_words is None else _share(sum(word in stop_words for word in raw), len(raw)) or 0.0
    return {
        "rps_doc_num_sentences": float(len(_SENTENCE.findall(text))),
        "rps_doc_word_count": float(len(words)),
        "rps_doc_mean_word_length": _share(sum(map(len, words)), len(words)),
        "rps_doc_symbol_to_word_ratio": _share(symbols, len(raw)),
        "rps_doc_frac_lines_end_with_ellipsis": _share(
            sum(line.rstrip().endswith(("...", "…")) for line in lines), len(lines)
        ),
        "rps_doc_frac_no_alph_words": None if letters is None else round(1 - letters, 8),
        "rps_doc_frac_unique_words": _share(len(set(words)), len(words)),
        "rps_doc_unigram_entropy": _entropy(words),
        "rps_doc_frac_all_caps_words": _share(sum(map(str.isupper, raw)), len(raw)),
        "rps_doc_lorem_ipsum": _share(smooth.count("lorem ipsum"), len(smooth)) or 0.0,
        "rps_doc_curly_bracket": _share(text.count("{") + text.count("}"), len(text)) or 0.0,
        "rps_doc_ldnoobw_words": None if bad_words is None else float(entries_met(words, bad_words)),
        "rps_doc_stop_word_fraction": stops if words or stops is None else 0.0,
        **_repetition(words),
        "ccnet_length": float(len(text)),
        "ccnet_nlines": float(len(lines)),
    }


def of_lines(text: str) -> dict[str, list[float]]:
    """All of `LINES`, each with a value a line in the order of the text."""
    raw = _LINE.findall(text)
    smooth = list(map(normal, raw))
    return {
        "rps_lines_javascript_counts": [float(line.split().count("javascript")) for line in smooth],
        "rps_lines_ending_with_terminal_punctution_mark": [
            float(line.rstrip().endswith((".", "!", "?", "”"))) for line in raw
        ],
        "rps_lines_num_words": [float(len(line.split())) for line in smooth],
        "rps_lines_uppercase_letter_fraction": [_share(sum(map(str.isupper, line)), len(line)) or 0.0 for line in raw],
        "rps_lines_numerical_chars_fraction": [
            _share(sum(map(str.isnumeric, line)), len(line)) or 0.0 for line in smooth
        ],
        "rps_lines_start_with_bulletpoint": [float(line.lstrip().startswith(_BULLETS)) for line in raw],
    }
