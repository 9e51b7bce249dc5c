"""How often a page's bytes become its text again, undeclared and under a wrong header, beside other detectors.

    python bench/charsets.py LOCALES --peers VENV [--catalogs glib20 gtk30 gtk30-properties] [--pages 24] [--seed 1]

Texts are the messages of translated programs, out of message catalogs below LOCALES (`xx/LC_MESSAGES/NAME.mo`, as Linux
distributions carry them in /usr/share/locale). What was tuned on some catalogs is judged on others: give those by
`--catalogs`. VENV is an environment with charset-normalizer and chardet. A page is right when its decoded text is the
very text it was made of. Pages have 40, 150, 600 or 2,500 characters, in turns.
"""

import argparse
import base64
import gettext
import json
import random
import re
import subprocess
import time
import unicodedata
from pathlib import Path

from curate.sources.charset import broken_share, decode

CHARSETS = {
    "ko": "euc_kr cp949 iso2022_kr",
    "ja": "euc_jp cp932 iso2022_jp",
    "zh_CN": "gb2312 gbk gb18030",
    "zh_TW": "big5",
    "ru": "cp1251 koi8_r cp866 iso8859_5 mac_cyrillic",
    "uk": "cp1251 koi8_u mac_cyrillic",
    "bg": "cp1251 mac_cyrillic",
    "be": "cp1251",
    "sr": "cp1251 iso8859_5",
    "el": "iso8859_7 cp1253",
    "he": "cp1255 iso8859_8",
    "ar": "cp1256 iso8859_6",
    "fa": "cp1256",
    "th": "cp874",
    "tr": "cp1254",
    "pl": "cp1250 iso8859_2",
    "cs": "cp1250 iso8859_2",
    "hu": "cp1250 iso8859_2",
    "ro": "iso8859_2",
    "sk": "cp1250",
    "hr": "cp1250 iso8859_2",
    "sl": "cp1250",
    "lt": "cp1257",
    "lv": "cp1257",
    "et": "cp1252 cp1257",
    "de": "cp1252 mac_roman",
    "en": "cp1252 mac_roman",
    "fr": "cp1252 mac_roman iso8859_15",
    "es": "cp1252",
    "pt_BR": "cp1252",
    "vi": "cp1258",
}
SIZES = (40, 150, 600, 2500)
MARKS = re.compile(r"%[-0-9.*$#+ ]*l*[a-zA-Z%]|[_&<>]|\x04.*")
QUOTED = re.compile(r"[\"']([^\"']+)[\"']")
PEERS = """
import base64, json, sys
import chardet, charset_normalizer
for line in sys.stdin:
    data = base64.b64decode(line)
    best = charset_normalizer.from_bytes(data).best()
    name = chardet.detect(data)["encoding"] or "ascii"
    print(json.dumps([str(best) if best else None, data.decode(name, "replace")]), flush=True)
"""


def messages(folder: Path, language: str, catalogs: list[str]) -> list[str]:
    """The translated messages of a language, in a fixed order, without marks of formats and keys."""
    found: dict[str, None] = {}
    english = language == "en"  # what was translated, with quotation marks as printers set them
    for name in catalogs:
        path = folder / ("de" if english else language) / "LC_MESSAGES" / f"{name}.mo"
        if path.exists():
            try:
                with path.open("rb") as opened:
                    catalog = gettext.GNUTranslations(opened)._catalog  # type: ignore[attr-defined]
            except UnicodeDecodeError:  # an old one that does not say its charset
                continue
            for key, value in catalog.items():
                words = " ".join(MARKS.sub("", str(key if english else value)).split())
                words = QUOTED.sub("“\\1”", words).replace("'", "’") if english else words
                if key and len(words) > 12 and words != key and (english or not words.isascii()):
                    found[words] = None
    return list(found)


def encodable(text: str, codec: str) -> bool:
    try:
        return text.encode(codec).decode(codec) == text
    except UnicodeError:
        return False


def pages(texts: list[str], codec: str, count: int, rng: random.Random) -> list[str]:
    """Web pages of texts that a codec can hold."""
    if codec == "cp1258":  # it has the tone marks apart
        texts = ["".join(unicodedata.normalize("NFD", c) if not encodable(c, codec) else c for c in t) for t in texts]
    fit = [text for text in texts if encodable(text, codec)]
    made = []
    for number in range(count if len(fit) > 20 else 0):
        held: list[str] = []
        while sum(map(len, held)) < SIZES[number % len(SIZES)]:
            held.append(rng.choice(fit))
        body = "".join(f"<p>{text}</p>\n" for text in held)
        head = f"<title>{number}</title><link rel=stylesheet href=/style.css>"
        made.append(f"<html><head>{head}</head><body><nav><a href=/>Home</a></nav>\n{body}</body></html>")
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("locales", type=Path)
    parser.add_argument("--peers", type=Path)
    parser.add_argument("--catalogs", nargs="+", default=["glib20", "gtk30", "gtk30-properties"])
    parser.add_argument("--pages", type=int, default=24)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="+", help="languages")
    parser.add_argument("--wrong", action="store_true", help="show what ours gets wrong")
    given = parser.parse_args()
    peer = None
    if given.peers:
        peer = subprocess.Popen([given.peers / "bin/python", "-c", PEERS], stdin=-1, stdout=-1, text=True)
    total = [0] * 6
    seconds = 0.0
    print("| language | charset | pages | ours | under `utf-8` | undecodable | charset-normalizer | chardet |")
    print("|---|---|---:|---:|---:|---:|---:|---:|")
    for language, codecs in CHARSETS.items():
        if given.only and language not in given.only:
            continue
        texts = messages(given.locales, language, given.catalogs)
        for codec in codecs.split():
            right = [0] * 6
            for page in pages(texts, codec, given.pages, random.Random(f"{given.seed} {language} {codec}")):
                data = page.encode(codec)
                began = time.process_time()
                text, name = decode(data)
                seconds += time.process_time() - began
                right[0] += 1
                right[1] += text == page
                right[2] += decode(data, "utf-8")[0] == page
                right[3] += broken_share(data) > 0.2
                if given.wrong and text != page:
                    print(f"    {name}, {len(page)}: {page[-90:-15]!r} {text[-90:-15]!r}")
                if peer and peer.stdin and peer.stdout:
                    peer.stdin.write(base64.b64encode(data).decode() + "\n")
                    peer.stdin.flush()
                    theirs = json.loads(peer.stdout.readline())
                    right[4] += theirs[0] == page
                    right[5] += theirs[1] == page
            total = [a + b for a, b in zip(total, right, strict=True)]
            print(f"| {language} | {codec} | {' | '.join(map(str, right))} |", flush=True)
    print(f"| all | | {' | '.join(map(str, total))} |")
    print(f"ours: {seconds / max(1, total[0]) * 1000:.2f} CPU ms a page")


if __name__ == "__main__":
    main()
