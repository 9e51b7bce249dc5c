"""Precision and recall of `pii` on a made set: `python bench/pii.py [--peer]`.

The set is drawn here from a fixed seed: places with their kind, in the forms that people write, and numbers and words
that only look like one, in sentences. The forms were written down before the detectors were run on them, and hold
some that are known to be missed (an address spelt out, a bare national number). With `--peer`, where datatrove is
installed, its e-mail and IP patterns read the same set.
"""

import random
import sys
from collections import Counter
from collections.abc import Callable, Iterable

from stages.personal.found import KINDS, found
from stages.personal.numbers import is_luhn

NAMES = "anna bob carla david elif farid greta hugo ines jan kira liam mona nils olga pavel".split()
HOSTS = "kern-mail.net uni-town.edu post.co.uk firma24.de correo.es poczta.pl mail.museum x1.io".split()
SENTENCES = (
    "Please ask {} about it.",
    "It was sent by {}, last week.",
    "({})",
    "Contact: {}",
    "{} is what it says.",
    "We found {}; nobody knew why.",
    "- {}",
)


def digits(draw: random.Random, count: int) -> str:
    return "".join(draw.choices("0123456789", k=count))


def checked(prefix: str, length: int, draw: random.Random, right: bool = True) -> str:
    """A number with a prefix whose last digit is (or is not) the right check digit."""
    body = prefix + digits(draw, length - len(prefix) - 1)
    good = next(last for last in "0123456789" if is_luhn(body + last))
    return body + (good if right else str((int(good) + draw.randint(1, 9)) % 10))


def iban(draw: random.Random, right: bool = True) -> str:
    country, length = draw.choice([("DE", 22), ("FR", 27), ("GB", 22), ("NL", 18), ("ES", 24), ("PL", 28)])
    letters = "".join(draw.choices("ABCDEFGHKLMNRSTW", k=4)) if country in ("GB", "NL") else ""
    account = letters + digits(draw, length - 4 - len(letters))
    number = int("".join(str(int(letter, 36)) for letter in f"{account}{country}00"))
    check = (98 - number % 97 + (0 if right else draw.randint(1, 90))) % 100
    whole = f"{country}{check:02d}{account}"
    return draw.choice([whole, " ".join(whole[at : at + 4] for at in range(0, length, 4))])


def grouped(number: str, sizes: Iterable[int], gap: str) -> str:
    parts, at = [], 0
    for size in sizes:
        parts.append(number[at : at + size])
        at += size
    return gap.join(parts)


def email(draw: random.Random) -> str:
    name = draw.choice(
        [draw.choice(NAMES), f"{draw.choice(NAMES)}.{draw.choice(NAMES)}", f"{draw.choice(NAMES)}_{digits(draw, 2)}"]
    )
    host = draw.choice(HOSTS)
    spelt = f"{name} at {host.replace('.', ' dot ')}"
    return draw.choices([f"{name}@{host}", f"{name}+news@{host}", f"{name} (at) {host}", spelt], [80, 8, 8, 4])[0]


def ip(draw: random.Random) -> str:
    four = ".".join(str(draw.choice([5, 23, 45, 62, 81, 93, 141, 178, 188, 212])) for _ in range(4))
    six = ":".join(["2a02", *(f"{draw.getrandbits(16):x}" for _ in range(7))])
    short = f"2001:470:{draw.getrandbits(16):x}::{draw.getrandbits(16):x}"
    return draw.choices([four, f"http://{four}:8080/", six, short], [70, 10, 10, 10])[0]


def phone(draw: random.Random) -> str:
    area, exchange, line = f"{draw.randint(201, 989)}", f"{draw.randint(201, 989)}", digits(draw, 4)
    return draw.choices(
        [
            f"({area}) {exchange}-{line}",
            f"{area}-{exchange}-{line}",
            f"{area}.{exchange}.{line}",
            f"+1 {area} {exchange} {line}",
            f"+49 {draw.randint(30, 89)} {digits(draw, 7)}",
            f"+44 (0){draw.randint(20, 29)} {digits(draw, 4)} {digits(draw, 4)}",
            f"+86 138 {digits(draw, 4)} {digits(draw, 4)}",
            f"0{draw.randint(30, 89)} / {digits(draw, 6)}",
            " ".join(["06", *(digits(draw, 2) for _ in range(4))]),
            f"020 {digits(draw, 4)} {digits(draw, 4)}",
            f"Tel. {digits(draw, 8)}",
            f"mobile: 9{digits(draw, 8)}",
            f"6{digits(draw, 2)} {digits(draw, 3)} {digits(draw, 3)}",
        ],
        [8, 8, 4, 8, 8, 4, 4, 6, 6, 4, 4, 4, 3],
    )[0]


def card(draw: random.Random) -> str:
    kind = draw.randint(0, 3)
    number = checked(("4", "53", "37", "6011")[kind], 15 if kind == 2 else 16, draw)
    sizes = (4, 6, 5) if kind == 2 else (4, 4, 4, 4)
    return draw.choice([number, grouped(number, sizes, " "), grouped(number, sizes, "-")])


def decoy(draw: random.Random) -> str:
    """Something that is personal to nobody."""
    octets = ".".join(str(draw.randint(0, 255)) for _ in range(2))
    return draw.choice(
        [
            f"info@example.{draw.choice(['com', 'org'])}",
            f"icon@{draw.randint(2, 3)}x.png",
            f"numpy@1.{digits(draw, 2)}",
            f"@{draw.choice(NAMES)}",
            f"192.168.{octets}",
            f"10.0.{octets}",
            f"version 5.{draw.randint(10, 99)}.{octets}",
            f"firmware v3.{octets}.12",
            "127.0.0.1",
            f"{digits(draw, 2)}:{digits(draw, 2)}:{digits(draw, 2)}",
            f"20{digits(draw, 2)}-{draw.randint(10, 12)}-{draw.randint(10, 28)}",
            f"{draw.randint(10, 28)}/{draw.randint(10, 12)}/20{digits(draw, 2)}",
            f"{draw.randint(10, 28)}.{draw.randint(10, 12)}.20{digits(draw, 2)}",
            f"ISBN 978-3-16-{digits(draw, 6)}-{digits(draw, 1)}",
            f"doi:10.1000/{digits(draw, 7)}",
            f"order {digits(draw, 10)}",
            f"{digits(draw, 10)}",
            f"{digits(draw, 3)},{digits(draw, 3)},{digits(draw, 3)}",
            f"{draw.randint(1, 9)} {digits(draw, 3)} {digits(draw, 3)} euros",
            f"3.{digits(draw, 12)}",
            f"{digits(draw, 2)}.{digits(draw, 6)}, {digits(draw, 2)}.{digits(draw, 6)}",
            checked("4", 16, draw, right=False),
            checked("91", 16, draw),
            iban(draw, right=False),
            f"https://host.org/{digits(draw, 3)}-{digits(draw, 3)}-{digits(draw, 4)}",
            f"SKU {digits(draw, 4)}-{digits(draw, 4)}-{digits(draw, 4)}",
            f"pp. {digits(draw, 3)}-{digits(draw, 3)}",
            f"1{digits(draw, 2)}-{digits(draw, 3)}-{digits(draw, 4)}",
            f"{digits(draw, 8)}-{digits(draw, 4)}-{digits(draw, 4)}",
        ]
    )


MAKERS: dict[str, Callable[[random.Random], str]] = {
    "email": email,
    "ip": ip,
    "phone": phone,
    "iban": iban,
    "card": card,
    "": decoy,
}


def made_set(count: int = 6_000, seed: int = 11) -> list[tuple[str, str, int, int]]:
    """(text, kind, start, end): one place a text; kind "" for what is none. Half are none."""
    draw, rows = random.Random(seed), []
    for _ in range(count):
        kind = draw.choice([*KINDS, *[""] * len(KINDS)])
        value, sentence = MAKERS[kind](draw), draw.choice(SENTENCES)
        start = sentence.index("{}")
        rows.append((sentence.format(value), kind, start, start + len(value)))
    return rows


def figures(rows: list[tuple[str, str, int, int]], finder: Callable[[str], list[tuple[str, int, int]]]) -> str:
    """A table: a place is found when a span of its kind touches it."""
    hit, named, there = Counter[str](), Counter[str](), Counter[str]()
    for text, kind, start, end in rows:
        spans = finder(text)
        there[kind] += 1
        named.update(found_kind for found_kind, _, _ in spans)
        hit[kind] += any(found_kind == kind and a < end and start < b for found_kind, a, b in spans)
    lines = ["| kind | places | precision | recall |", "|---|---:|---:|---:|"]
    for kind in KINDS:
        if named[kind]:
            lines.append(
                f"| {kind} | {there[kind]:,} | {hit[kind] / named[kind]:.3f} | {hit[kind] / there[kind]:.3f} |"
            )
    return "\n".join(lines)


def peer() -> Callable[[str], list[tuple[str, int, int]]]:
    from datatrove.pipeline.formatters.pii import PIIFormatter

    pii = PIIFormatter()

    def spans(text: str) -> list[tuple[str, int, int]]:
        emails = [("email", *found.span()) for found in pii.emails_replacer.regex.finditer(text)]
        valid = pii.ip_replacer.validator
        return emails + [
            ("ip", *found.span())
            for found in pii.ip_replacer.regex.finditer(text)
            if not valid or valid(found.group(0))
        ]

    return spans


def main() -> None:
    rows = made_set()
    print(f"{len(rows):,} texts")
    print(figures(rows, lambda text: [(span.kind, span.start, span.end) for span in found(text)]))
    if "--peer" in sys.argv:
        print("datatrove\n" + figures(rows, peer()))
    if "--errors" in sys.argv:
        for text, kind, _, _ in rows:
            if [span.kind for span in found(text)] != ([kind] if kind else []):
                print(f"{kind or 'none':6} {[(s.kind, text[s.start : s.end]) for s in found(text)]} {text}")


if __name__ == "__main__":
    main()
