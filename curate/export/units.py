"""Texts cut where no token of some well-known tokenizers can reach across, so that a word is encoded once.

Byte-level tokenizers first cut a text by a regular expression and encode each piece by itself. With the expressions
below a new piece always begins (a) at a space between two characters that are no white space, and (b) after a single
line feed between two such characters; none of them looks back. So the text between two such places, here a *unit*, has
the same tokens alone as in its text. What else stands between two words, such as wider white space, stays in a unit.
"""

import re
from collections.abc import Mapping
from typing import Any

# Piece expressions for which (a) and (b) hold, by the models that use them.
_LETTERS = r"[^\r\n\p{L}\p{N}]?\p{L}+"
_REST = r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_SHORT = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
EXPRESSIONS = {
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",  # GPT-2
    rf"{_SHORT}|{_LETTERS}|\p{{N}}{{1,3}}|{_REST}",  # cl100k, Llama 3
    rf"{_SHORT}|{_LETTERS}|\p{{N}}|{_REST}",  # Qwen 2
}

# A word with the one space before it and the one line feed after it; with it what other white space joins to it. The
# white space of `re` holds all that of the expressions above, and four control characters more: those join, too.
UNIT = re.compile(r" ?\S+(?:(?:\s{2,}|[^\S \n])\S+)*(?:\n(?=\S)|\s+\Z)?")


def units(text: str) -> list[str]:
    """The units of a text, in order; joined they are the text."""
    if text[:1].isspace():  # what stands before the first word belongs to no unit
        first = UNIT.match(text, len(text) - len(text.lstrip()))
        if first is None:
            return [text]
        return [text[: first.end()], *UNIT.findall(text, first.end())]
    return UNIT.findall(text)


def splits_into_units(tokenizer: Mapping[str, Any]) -> bool:
    """Whether a tokenizer (as its JSON) gives a unit the same tokens alone as in a text."""
    normalizer, cut = tokenizer.get("normalizer"), tokenizer.get("pre_tokenizer")
    if normalizer is not None and normalizer.get("type") != "NFC":  # a space composes with nothing
        return False
    if any(_reaches_across(token) for token in tokenizer.get("added_tokens", ())):
        return False
    return _cuts_well(cut)


def _reaches_across(token: Mapping[str, Any]) -> bool:
    """Whether an added token that is looked for in texts could hold a border of units, or look at what is around."""
    if token.get("special"):
        return False  # these are not looked for
    looks = token.get("lstrip") or token.get("rstrip") or token.get("single_word")
    return bool(looks or re.search(r"\s", token["content"]))


def _cuts_well(cut: Mapping[str, Any] | None) -> bool:
    if cut is None:
        return False
    if cut.get("type") == "ByteLevel":
        return bool(cut.get("use_regex", True)) and not cut.get("add_prefix_space", True)
    steps: list[Any] = cut.get("pretokenizers", []) if cut.get("type") == "Sequence" else []
    if len(steps) != 2 or steps[0].get("type") != "Split" or steps[1].get("type") != "ByteLevel":
        return False
    split, bytewise = steps
    pattern = split.get("pattern", {}).get("Regex")
    isolated = split.get("behavior") == "Isolated" and not split.get("invert")
    return (
        pattern in EXPRESSIONS
        and isolated
        and not (bytewise.get("use_regex", True) or bytewise.get("add_prefix_space", True))
    )
