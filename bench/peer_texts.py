"""Texts for comparing verdicts with the peers: prose with every oddity that some rule looks for, from a fixed seed."""

import random

LETTERS = "etaoinshrdlucmfwypvbgkjqxz"
STOPS = ("the", "of", "and", "to", "that", "with", "be", "have")
COUNTED = ("likes", "shares", "comments", "views", "followers", "downloads", "apples")
PHRASES = ("items in cart", "Read more...", "Sign-in", "read more now", "SIGN-IN", "Items In Cart")
ODD_WORDS = (
    "#tag",
    "...",
    "…",
    "e.g.",
    "don't",
    "3.14",
    "2,000",
    "naïve",
    "Straße",
    "über-all",
    "C++",
    "—",
    "½",
    "drat",
    "https://site.example/a?b=1",
    "www.site.example",
    "jo@kern-mail.net",
    "93.184.216.34",
    "lorem ipsum",
    "{",
    "javascript",
    "x" * 40,
    "DRAT!",
    "dash it",
)
BULLETS = ("- ", "* ", "• ", "‣ ", "– ", "")


class Writer:
    """Draws texts; each draws how odd it is first, so that many lie near some limit."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        draw = self.draw
        made = ("".join(draw.choices(LETTERS, range(26, 0, -1), k=draw.randint(2, 9))) for _ in range(400))
        self.words = [*STOPS, *made]

    def sentence(self, oddity: float) -> str:
        draw = self.draw
        words = draw.choices(self.words, [3] * len(STOPS) + [1] * 400, k=draw.randint(3, 18))
        words = [draw.choice(ODD_WORDS) if draw.random() < oddity else word for word in words]
        words[0] = words[0].capitalize()
        return " ".join(words) + draw.choice([".", ".", ".", "?", "!", "...", "", "…", '."', ":"])

    def line(self, oddity: float) -> str:
        draw = self.draw
        if draw.random() >= oddity:
            return " ".join(self.sentence(oddity) for _ in range(draw.randint(1, 4)))
        return draw.choice(
            [
                self.sentence(0).upper(),
                str(draw.randint(1, 99_999)),
                f"{draw.randint(1, 999)} {draw.choice(COUNTED)}",
                f"{draw.randint(1, 9)},{draw.randint(100, 999)}K {draw.choice(COUNTED).title()}!",
                draw.choice(self.words),
                f"{draw.choice(self.words)} {draw.choice(PHRASES)}",
                f"{draw.choice(PHRASES)} {draw.choice(self.words)}",
                "",
                "   ",
                draw.choice(BULLETS) + self.sentence(0),
                " ".join([draw.choice(self.words)] * draw.randint(2, 40)),
                "  " + self.sentence(0).title() + "  ",
                "水は低きに流れる。",
                "Ａ１ ﬁne “quotes” sÃ³lo &amp; more",
            ]
        )

    def text(self) -> str:
        draw = self.draw
        oddity, lines = draw.choice([0, 0.02, 0.05, 0.1, 0.2, 0.5]), draw.choice([0, 1, 2, 4, 8, 16, 30])
        found = [self.line(oddity) for _ in range(lines)]
        for _ in range(draw.choice([0, 0, 0, 1, 2, 5])):
            if found:
                found.insert(draw.randrange(len(found)), draw.choice(found))
        return draw.choice(["\n", "\n", "\n\n"]).join(found)


def made_texts(count: int = 2_000, seed: int = 5) -> list[str]:
    """So many texts, of none to some thousand words."""
    writer = Writer(seed)
    return [writer.text() for _ in range(count)]
