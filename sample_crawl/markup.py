"""HTML around an article: four kinds of site, with the menus, notices and scripts that are not its text."""

from collections.abc import Callable
from html import escape

from sample_crawl.prose import Article, Dice

SECTIONS = ("News Culture Travel Garden Archive Letters Shop Events People Science Sport Weather Photos Maps").split()
COMMENTS = ("Lovely piece, thank you!", "My uncle would disagree.", "First!", "When is the next open day?")


def _menu(host: str, n: int) -> str:
    items = Dice(f"menu {host}").some(SECTIONS, n)
    return "".join(f'<li><a href="https://{host}/{item.lower()}/">{item}</a></li>' for item in items)


def _heading(article: Article, attributes: str = "") -> str:
    return f"<h1{attributes}>{escape(article.title, quote=False)}</h1>" if article.title else ""


def _paragraphs(article: Article) -> str:
    return "\n".join(f"<p>{escape(text, quote=False)}</p>" for text in article.paragraphs)


def blog(host: str, article: Article) -> str:
    """A weblog: header, article, comments, sidebar."""
    comments = "".join(f"<li class=comment>{text}</li>" for text in Dice(host + article.title).some(list(COMMENTS), 2))
    return f"""<header><a href="/">{host}</a><nav><ul>{_menu(host, 5)}</ul></nav></header>
<main><article>
{_heading(article)}
{_paragraphs(article)}
</article>
<section id="comments" class="comments"><h3>Comments</h3><ul>{comments}</ul></section></main>
<aside class="sidebar"><h3>Recent posts</h3><ul>{_menu(host, 4)}</ul></aside>
<footer>Powered by a very small computer. All rights reserved.</footer>"""


def news(host: str, article: Article) -> str:
    """A newspaper: cookie notice, two menus, share buttons, advertisements."""
    return f"""<div class="cookie-banner" role="dialog">We value your privacy. <button>Accept</button></div>
<div id="top"><ul class="nav menu">{_menu(host, 7)}</ul></div>
<div id="content" class="main-content">
<article class="article-body">
{_heading(article)}
{_paragraphs(article)}
</article>
<div class="share social">Share: <a href="#">Mail</a> <a href="#">Print</a></div>
</div>
<div class="ad advertisement">Advertisement</div>
<div id="footer" class="footer"><ul>{_menu(host, 6)}</ul>Imprint. Terms.</div>
<script>window.dataLayer = window.dataLayer || []; track("page", {{host: "{host}"}});</script>"""


def wiki(host: str, article: Article) -> str:
    """An encyclopedia: content first, tools and navigation behind it."""
    return f"""<div id="mw-page"><div id="content" role="main">
<article>
{_heading(article, ' id="firstHeading"')}
{_paragraphs(article)}
</article>
</div></div>
<div id="navigation" role="navigation"><ul>{_menu(host, 6)}</ul></div>
<div id="footer" role="contentinfo">This page was last edited some time ago.</div>"""


def plain(host: str, article: Article) -> str:
    """A home page of the old kind: a heading and paragraphs."""
    return f"""<div id="content">{_heading(article)}
{_paragraphs(article)}
</div><hr>
<address>Webmaster, {host}</address>"""


TEMPLATES: tuple[Callable[[str, Article], str], ...] = (blog, news, wiki, plain)


def html(host: str, article: Article, template: int = -1, meta: str = "") -> str:
    """A whole page. The host decides the kind of site where none is given."""
    kind = TEMPLATES[template] if template >= 0 else TEMPLATES[Dice(f"site {host}").below(len(TEMPLATES))]
    return document(article.title, kind(host, article), article.language, meta)


def document(title: str, body: str, language: str = "en", meta: str = "") -> str:
    """Head and body around any markup."""
    return f"""<!DOCTYPE html>
<html lang="{language}">
<head>
{meta}<title>{escape(title, quote=False)}</title>
<style>body {{ max-width: 40em; margin: auto }} .menu li {{ display: inline }}</style>
</head>
<body>
{body}
</body>
</html>
"""
