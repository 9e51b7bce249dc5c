"""Copies at known distances: exact, reformatted, near, and pages that are alike but not alike enough."""

from collections.abc import Callable
from dataclasses import replace

from sample_crawl.page import KEPT, Page, page, slug
from sample_crawl.prose import TEXTS, Article, Dice

EXACT = "exact_dedup.exact_duplicate"
NEAR = "near_dedup.near_duplicate"

Edit = Callable[[str], str]

REFORMATS: dict[str, Edit] = {
    "reformat_upper": str.upper,
    "reformat_nbsp": lambda text: text.replace(" the ", "\u00a0the\u00a0"),
    "reformat_zero_width": lambda text: text.replace("a ", "a\u200b ").replace("er", "e\u00adr"),
}

TERMS = (TEXTS / "terms.txt").read_text(encoding="utf-8").strip()


def exact(original: Page, article: Article, host: str, template: int) -> Page:
    """The same text on another site."""
    return page(host, article, "exact_copy", EXACT, template=template, of=original.url)


def reformatted(original: Page, article: Article, host: str, kind: str) -> Page:
    """The same text with other case, white space or invisible marks."""
    edit = REFORMATS[kind]
    copy = Article(edit(article.title), tuple(map(edit, article.paragraphs)))
    return page(host, copy, kind, EXACT, of=original.url)


def appended(article: Article) -> Article:
    """A scraper's line behind the last paragraph."""
    return replace(article, paragraphs=(*article.paragraphs, "Read more on our site, every day and free of charge."))


def truncated(article: Article, share: float = 0.9) -> Article:
    """The first part of the words."""
    left, kept = int(share * len(article.text.split())) - len(article.title.split()), []
    for paragraph in article.paragraphs:
        words = paragraph.split()[: max(left, 0)]
        left -= len(words)
        kept.append(" ".join(words))
    return replace(article, paragraphs=tuple(filter(None, kept)))


def reworded(article: Article, changes: int) -> Article:
    """`changes` words replaced, far enough from each other to break five shingles each."""
    dice, paragraphs = Dice(f"reworded {article.title} {changes}"), [p.split() for p in article.paragraphs]
    places = [(i, j) for i, words in enumerate(paragraphs) for j in range(3, len(words), 7)]
    for index in dice.some([str(k) for k in range(len(places))], changes):
        i, j = places[int(index)]
        paragraphs[i][j] = dice.one(["indeed", "quietly", "perhaps", "rather", "mostly", "hardly"])
    return replace(article, paragraphs=tuple(" ".join(words) for words in paragraphs))


def syndicated(article: Article) -> Article:
    """An agency's line before the text and a notice behind it."""
    head, tail = "From our correspondent, by wire.", "This text appeared first elsewhere."
    return replace(article, paragraphs=(head, *article.paragraphs, tail))


NEAR_EDITS: dict[str, Callable[[Article], Article]] = {
    "near_append": appended,
    "near_truncated": truncated,
    "near_words": lambda article: reworded(article, 2),
    "near_syndicated": syndicated,
}


def near(original: Page, article: Article, host: str, kind: str) -> Page:
    """A copy with small edits, at a Jaccard similarity well above 0.8."""
    return page(host, NEAR_EDITS[kind](article), kind, NEAR, of=original.url)


def related(original: Page, article: Article, host: str) -> Page:
    """A text that shares half of its sentences with another: similar, yet no copy."""
    return page(host, reworded(article, 14), "related", KEPT, of=original.url)


def chain(original: Page, article: Article) -> list[Page]:
    """Two steps away from a page: the first step is a near copy of it, the second only of the first."""
    step = reworded(article, 4)
    further = truncated(step, 0.88)
    return [
        page("step.mirror.example", step, "chain_near", NEAR, of=original.url),
        page("further.mirror.example", further, "chain_far", KEPT, of=original.url),
    ]


def terms() -> list[Page]:
    """One shop's terms of service, and the same on four other shops."""
    pages: list[Page] = []
    for shop in ("Lindentree", "Oakmarket", "Willowgoods", "Alderstore"):
        article = Article("Terms of service", tuple(TERMS.format(shop=shop).split("\n")))
        of = pages[0].url if pages else None
        pages.append(page(f"{slug(shop)}.shop.example", article, "terms", NEAR if of else KEPT, template=2, of=of))
    return pages
