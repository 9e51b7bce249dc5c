"""Pages that nobody wants to train on: menus, notices, keyword lists, and a page for each rule they break."""

from html import escape

from sample_crawl import markup
from sample_crawl.page import Page
from sample_crawl.prose import MONTHS, TOWNS, Article, Dice

CITIES = "London Madrid Berlin Lisbon Dublin Vienna Prague Athens Oslo Rome Paris Riga".split()
WARES = "sneakers handbags watches sunglasses mattresses headphones jackets perfumes".split()
SURE_MENU = 1  # the menu that lid.176 scores above 0.65
COOKIES = (
    "This website uses cookies to make sure that you get the best experience. Some of them are necessary, "
    "and others help us to count visitors. You can change your choice at any time in the settings."
)
MISSING = (
    "Sorry, the page that you are looking for does not exist or has been moved. Check the address, or go "
    "back to the start page and try the search."
)


def _page(host: str, kind: str, reason: str, body: str, text: str = "", title: str = "") -> Page:
    html = markup.document(title or kind.replace("_", " ").capitalize(), body)
    return Page(url=f"https://{host}/{kind}", kind=kind, expect=reason, body=html.encode(), text=text)


def _prose(host: str, kind: str, reason: str, paragraphs: list[str], template: int = 2) -> Page:
    article = Article("", tuple(paragraphs))
    return _page(host, kind, f"gopher.{reason}", markup.TEMPLATES[template](host, article), "\n".join(paragraphs))


def navigation(n: int) -> Page:
    """Nothing but a menu: six words, of which lid.176 is mostly not sure that they are English."""
    host = f"menu{n}.portal.example"
    items = Dice(host).some(markup.SECTIONS, 6)
    links = " | ".join(f'<a href="/{item.lower()}">{item}</a>' for item in items)
    reason = "gopher.too_few_words" if n == SURE_MENU else "language.low_score"
    return _page(host, "navigation", reason, f"<p>{links}</p>", " | ".join(items))


def cookie_notice(n: int) -> Page:
    """A site that shows its cookie notice to the crawler, and nothing else."""
    return _prose(f"consent{n}.example", "cookie_notice", "too_few_words", [COOKIES], template=n % 3)


def soft_404(n: int) -> Page:
    """An error page that says 200 OK."""
    return _prose(f"lost{n}.example", "soft_404", "too_few_words", [MISSING], template=n % 3)


def keywords(n: int) -> Page:
    """Words that people search for, one after the other."""
    dice = Dice(f"keywords {n}")
    lines = [
        f"buy cheap {ware} in {dice.one(CITIES)}, {ware} outlet, {ware} sale {2010 + dice.below(15)}, "
        f"original {ware} online, {ware} discount code {dice.one(CITIES)}"
        for ware in dice.some(WARES, 6)
    ]
    return _prose(f"deals{n}.example", "keywords", "too_few_stop_words", lines)


def link_farm(n: int) -> Page:
    """Links to other sites of the same kind, each with a few baited words."""
    dice = Dice(f"links {n}")
    items = "".join(
        f'<li><a href="http://{dice.one(WARES)}-{dice.one(CITIES).lower()}.example/">best {dice.one(WARES)} '
        f"bonus {dice.one(CITIES)} {dice.one(MONTHS)} top {dice.below(100)}</a></li>"
        for _ in range(40)
    )
    return _page(f"links{n}.example", "link_farm", "gopher.too_few_stop_words", f"<ul>{items}</ul>")


def short_words() -> Page:
    lines = [
        "I am to go up to it as he is by me so we go on to it and I do as he is at it",
        "if he is up I go to be by it or he is to do it as we do so it is up to me to be at it",
        "so I do go and he is on to it as I am by it and we go to it so it is as it is to us",
    ]
    return _prose("toddler.example", "short_words", "words_too_short", lines)


def long_words() -> Page:
    lines = [
        "Internationalization requirements characteristically necessitate comprehensive interdepartmental "
        "collaboration, notwithstanding organizational responsibilities.",
        "Telecommunications infrastructure modernization, incorporating microprocessor-controlled "
        "instrumentation, demonstrates extraordinary technological sophistication.",
        "Environmental sustainability considerations increasingly differentiate multinational corporations, "
        "particularly pharmaceutical manufacturers, throughout industrialized administrations.",
        "Psychological rehabilitation professionals recommend individualized interventions, emphasizing "
        "self-determination, interdependence, accountability.",
        "Administrative simplification notwithstanding, bureaucratic responsibilities disproportionately "
        "disadvantage entrepreneurial organizations.",
    ]
    return _prose("consulting.example", "long_words", "words_too_long", lines)


def hashes() -> Page:
    lines = [
        f"What a day by the {thing} in {town}! #{thing} #sunset #happy and more with the family #blessed"
        for thing, town in zip(("lake", "harbour", "castle", "forest", "bridge", "meadow", "tower"), TOWNS)
    ]
    return _prose("photos.social.example", "hashes", "too_many_hashes", lines)


def ellipses() -> Page:
    lines = [
        f"Well ... I went to {town} and ... you know ... the {thing} was ... not there, so that was that"
        for thing, town in zip(("train", "museum", "hotel", "guide", "weather"), TOWNS)
    ]
    return _prose("diary.example", "ellipses", "too_many_ellipses", lines)


def ellipsis_lines() -> Page:
    lines = [
        f"The mayor of {town} has spoken to the council about the budget for the new {thing}, and many of "
        f"those who have waited for years are …"
        for thing, town in zip(("school", "bridge", "library", "swimming pool", "bus line", "fire station"), TOWNS)
    ]
    return _prose("teasers.news.example", "ellipsis_lines", "too_many_ellipsis_lines", lines)


def bullet_lines() -> Page:
    things = "hammer rope lantern compass kettle blanket whistle map torch knife".split()
    items = [f"the {thing} that you have to bring with you to {town}" for thing, town in zip(things, TOWNS)]
    body = "<article><ul>" + "".join(f"<li>{item}</li>" for item in items) + "</ul></article>"
    text = "\n".join(f"- {item}" for item in items)
    return _page("packing.example", "bullet_lines", "gopher.too_many_bullet_lines", body, text)


def price_table() -> Page:
    dice = Dice("prices")
    lines = [
        f"The price of {ware} in {city} was {dice.below(90)}.{dice.below(90)} and {dice.below(90)}.00 to "
        f"{dice.below(90)}.50 / {dice.below(9)} / {dice.below(9)} / {dice.below(9)}"
        for ware, city in zip(WARES, CITIES)
    ]
    return _prose("prices.example", "price_table", "too_few_alphabetic_words", lines)


def duplicate_lines() -> Page:
    call = "Call us today and ask for the free offer that we have with this plan."
    lines = [
        f"Our team in {town} will be happy to help you with the {thing} of your house."
        for thing, town in zip(("roof", "windows", "heating", "garden", "drains"), TOWNS)
    ]
    return _prose("roofers.example", "duplicate_lines", "duplicate_lines", [x for line in lines for x in (line, call)])


def duplicate_line_characters() -> Page:
    notice = (
        "The offers on this page are subject to change without notice and have to be confirmed by the seller "
        "in writing before they can be accepted by a buyer who resides outside of the country."
    )
    lines = [
        f"A room with a view of the {thing} can be had in {town}."
        for thing, town in zip(("sea", "castle", "river", "market", "park", "hills", "old mill"), TOWNS)
    ]
    body = [*lines[:3], notice, *lines[3:5], notice, *lines[5:]]
    return _prose("rooms.example", "duplicate_line_characters", "duplicate_line_characters", body)


def repeated_pair() -> Page:
    lines = [
        f"Wedding photography in {town}: wedding photography that we have with love, and wedding photography to {end}."
        for town, end in zip(TOWNS, ("remember", "print", "share", "frame", "give away", "keep"))
    ]
    return _prose("weddings.example", "repeated_pair", "top_2_gram", lines)


def repeated_passage() -> Page:
    passage = "please have your booking number ready and be patient while all of our lines are busy with others"
    lines = [
        f"If you want to change the {thing} of a trip to {town}, {passage}, since each {thing} is changed only once."
        for thing, town in zip(("date", "cabin", "name", "route"), TOWNS)
    ]
    return _prose("cruises.example", "repeated_passage", "duplicate_5_grams", lines)


def empty_pages() -> list[Page]:
    """Pages with a status of 200 and nothing to read."""
    script = "<script>" + escape('document.write("Loading the application ...")', quote=False) + "</script>"
    return [
        Page(url="https://blank.example/", kind="empty_body", expect="extract.no_text", body=b""),
        _page("app.example", "script_only", "extract.no_text", f'<div id="root"></div>{script}'),
    ]


RULE_PAGES = (
    short_words,
    long_words,
    hashes,
    ellipses,
    ellipsis_lines,
    bullet_lines,
    price_table,
    duplicate_lines,
    duplicate_line_characters,
    repeated_pair,
    repeated_passage,
)


def pages() -> list[Page]:
    """All of them."""
    return [
        *map(navigation, range(4)),
        *map(cookie_notice, range(3)),
        *map(soft_404, range(3)),
        *map(keywords, range(4)),
        *map(link_farm, range(3)),
        *(make() for make in RULE_PAGES),
        *empty_pages(),
    ]
