"""Made-up pages whose true text is known: a few layouts, with menus, footers and lists of links around the text."""

import random

WORDS = (
    "river stone winter garden letter signal harbour engine window copper meadow ladder candle market thunder".split()
)


def sentence(chance: random.Random) -> str:
    return " ".join(chance.choices(WORDS, k=chance.randint(8, 20))).capitalize() + "."


def labelled(number: int) -> tuple[str, str, str]:
    """Address, page and true text of a page; each number is a site of its own."""
    chance = random.Random(number)
    outer, inner = chance.choice([("main", "post-body"), ("article", "entry-content"), ("div", "story text")])
    paragraphs = [" ".join(sentence(chance) for _ in range(chance.randint(1, 4))) for _ in range(chance.randint(4, 9))]
    links = "".join(f'<li><a href="/{n}">{" ".join(chance.choices(WORDS, k=2))}</a></li>' for n in range(12))
    text = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    page = (
        f'<html><head><title>Page {number}</title></head><body><nav class="menu site-nav"><ul>{links}</ul></nav>'
        f'<{outer} class="{inner}">{text}</{outer}><div class="sidebar related"><ul>{links}</ul></div>'
        '<footer class="site-footer"><p>All rights reserved</p><a href="/x">Contact</a></footer></body></html>'
    )
    return f"https://www.site{number}.example-{number}.org/page", page, "\n\n".join(paragraphs)
