"""Values that people, shells and generators have been seen to give, and others of their kinds."""

from typing import Any

from hypothesis import strategies as st

LONG = "9" * 5000
SURE_NUMBERS = [LONG, "nan", "inf", "-1", "0", "1e400"]
"""What every number on the command line is tried with; of the rest each takes some."""
NUMBERS = [
    "1",
    "2",
    "-0",
    "-" + LONG,
    "9" * 400,
    "1e9",
    "-1e400",
    "1e-400",
    "-nan",
    "-Infinity",
    "NaN%",
    "1e11",
    "99999999999",
    "18446744073709551616",
    "0x10",
    "1_000",
    "٣",
    "½",
    " 7",
    "7 ",
    "1,5",
    "1.5",
    "0.1",
    "1e308",
    "5e-324",
    "1e3",
    "3.0",
]
SURE_WORDS = ["", "\ud800", "a\x1b[31m\x07"]
WORDS = [
    " ",
    "-",
    "=",
    ":",
    "::",
    ".",
    "a",
    "a.b",
    "a=b",
    "gopher.min_words=",
    "=1",
    "a:b:c",
    "*",
    "[",
    "(",
    "{",
    "\\",
    "%",
    "%s",
    "{0}",
    "$HOME",
    "~",
    "#",
    "a#b",
    "a:1",
    "a:-1",
    f"a:{LONG}",
    "\n",
    "a\nb",
    "\t",
    "\x9b",
    "\u202e",
    "\udcff",
    "\ufeff",
    "e\u0301",
    "漢字",
    "x" * 300,
    "x/" * 3000 + "x",
    "null",
    "true",
    "[]",
    "{}",
    "none",
    "nowhere",
    "../nowhere",
    "nowhere.yaml",
    "nowhere://x",
    "file://nowhere",
    "s3:",
    "://",
]
SIZES = ["9e30GiB", f"{LONG}GiB", "9" * 400 + "GiB", "1TB", "-1GiB", "0", "nan", "GiB"]
LIMITS = ("min_words", "min_mean_word_length")
CHANGES = [f"gopher.{name}={value}" for name in LIMITS for value in ("nan", "1e400", LONG)]
RANGES = [("nan", 1, 1), (1, "nan", 1), (1, 2, "nan"), (1, "inf", 1), (1, 2, 0), (1, 1e9, 1e-9), (LONG, LONG, 1)]
SWEEPS = [f"gopher.min_words={start}:{stop}:{step}" for start, stop, step in RANGES]
OF_NAMES = {"memory": SIZES, "slice_size": SIZES, "changes": CHANGES, "sweep": SWEEPS}
"""Odd values of the parameters that are numbers inside of words."""
VALUES: list[Any] = [
    None,
    True,
    False,
    0,
    1,
    2,
    -1,
    2**31,
    2**63,
    2**64,
    10**400,
    -(10**400),
    1.5,
    0.0,
    -0.0,
    1e308,
    -1e308,
    5e-324,
    float("nan"),
    float("inf"),
    -float("inf"),
    [],
    [None],
    [[]],
    [1, "a"],
    [""],
    ["a", "a"],
    {},
    {"a": 1},
    {"": {}},
    {"a": None},
    {"a": {"b": []}},
    [[[[[[[[[[]]]]]]]]]],
    {"\ud800": 1},
    {"\x1b": "\x1b"},
    "\x00",
    *SURE_NUMBERS,
    *NUMBERS,
    *SURE_WORDS,
    *WORDS,
]

# No slash and no dot alone, since a text may be taken for a place to write to.
texts = st.text(st.characters(blacklist_characters="/\x00"), max_size=20).filter(lambda word: set(word) != {"."})
words = st.one_of(st.sampled_from([*SURE_NUMBERS, *NUMBERS, *SURE_WORDS, *WORDS]), st.floats().map(str), texts)
_any = st.none() | st.booleans() | st.floats() | texts
_nested = st.recursive(
    _any, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=5
)
values = st.one_of(st.sampled_from(VALUES), st.integers(), st.floats(), texts, _nested)
