"""The text that a page declares in JSON-LD, for pages that show none before their scripts have run."""

import json
import re
from collections.abc import Iterator, Sequence
from html import unescape
from typing import Any

from stages.extraction.visible import MARKUP

BREAK = re.compile(r"<(?:br|/p|/div|/li|/h[1-6])\b[^>]*>", re.IGNORECASE)


def declared_text(scripts: Sequence[bytes]) -> str:
    """The longest articleBody, or description of a product, of JSON-LD scripts, "" where there is none (schema.org)."""
    likely = [script for script in scripts if b"articleBody" in script or b"Product" in script]
    texts = (text for script in likely for text in _texts(script.decode("utf-8", "replace")))
    return max(texts, key=len, default="")


def _texts(script: str) -> Iterator[str]:
    try:
        waiting: list[Any] = [json.loads(script, strict=False)]
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
