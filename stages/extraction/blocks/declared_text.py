"""The text that a page declares in JSON-LD, for pages that show none before their scripts have run."""

import json
import re
from collections.abc import Iterator
from html import unescape
from typing import Any

from stages.extraction.visible import MARKUP, SCRIPT

BREAK = re.compile(r"<(?:br|/p|/div|/li|/h[1-6])\b[^>]*>", re.IGNORECASE)


def declared_text(source: str) -> str:
    """The longest articleBody, or description of a product, "" where there is none (schema.org)."""
    if "articleBody" not in source and "Product" not in source:
        return ""
    return max((text for block in SCRIPT.findall(source) for text in _texts(block)), key=len, default="")


def _texts(block: str) -> Iterator[str]:
    try:
        waiting: list[Any] = [json.loads(block, strict=False)]
    except (ValueError, RecursionError):
        return
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting.extend(value)
        elif isinstance(value, dict):
            waiting.extend(value.values())
            names = ("articleBody", "description") if "Product" in str(value.get("@type")) else ("articleBody",)
            for name in names:
                if isinstance(text := value.get(name), str):
                    yield _plain(text)


def _plain(text: str) -> str:
    """A text without the markup that some write into it."""
    lines = unescape(MARKUP.sub(" ", BREAK.sub("\n", unescape(text)))).splitlines()
    return "\n".join(line for line in (" ".join(line.split()) for line in lines) if line)
