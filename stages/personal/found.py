"""All that is personal in a text, without overlaps, and the text with it masked."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, get_args

from stages.personal.addresses import emails, ip_addresses
from stages.personal.numbers import cards, ibans, outside_links, phones
from stages.personal.span import PersonalSpan

Kind = Literal["email", "ip", "phone", "iban", "card"]
KINDS: tuple[Kind, ...] = get_args(Kind)

# In the order of their claims: what has check digits claims its place before what has only a form.
_FINDERS: Mapping[str, Callable[[str], Iterable[PersonalSpan]]] = {
    "email": emails,
    "iban": ibans,
    "card": lambda text: outside_links(cards(text), text),
    "ip": ip_addresses,
    "phone": lambda text: outside_links(phones(text), text),
}


def found(text: str, kinds: Sequence[str] = KINDS) -> list[PersonalSpan]:
    """Spans of these kinds in the order of the text; where two overlap, the one of the earlier claim."""
    taken: list[PersonalSpan] = []
    numbers = any(map(text.__contains__, "0123456789"))
    for kind, finder in _FINDERS.items():
        if kind in kinds and (numbers or kind == "email"):
            for span in finder(text):
                if all(span.end <= other.start or other.end <= span.start for other in taken):
                    taken.append(span)
    return sorted(taken)


def masked(text: str, spans: Iterable[PersonalSpan], mark: Callable[[PersonalSpan], str]) -> str:
    """The text with each span replaced by its mark."""
    parts, end = [], 0
    for span in spans:
        parts += [text[end : span.start], mark(span)]
        end = span.end
    return "".join([*parts, text[end:]])


def kind_mark(span: PersonalSpan) -> str:
    """`<EMAIL>`, `<PHONE>`, ..."""
    return f"<{span.kind.upper()}>"


def value_mark(span: PersonalSpan, salt: str) -> str:
    """`<EMAIL:1f2e3d4c5b>`: equal values have equal marks, wherever they stand."""
    digest = hashlib.sha256(f"{salt}\0{span.kind}\0{span.value}".encode()).hexdigest()[:10]
    return f"<{span.kind.upper()}:{digest}>"
