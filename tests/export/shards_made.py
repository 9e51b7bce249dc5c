"""Shards made for the tests: documents of the words w0, w1, … whose tokens are known."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.export.tokenizers_made import END as END  # token 0 of `of_words`


def words_of(number: int, words: int = 40) -> list[int]:
    """The words of document `number`: 1 to 9 of them."""
    return [(number * 7 + place * 3) % words for place in range(1 + number % 9)]


def tokens_of(number: int) -> list[int]:
    """Its tokens by `of_words`, with the one that ends it."""
    return [word + 1 for word in words_of(number)] + [0]


def write_shards(
    folder: Path, documents: int, each: int = 125, group: int = 50, **columns: Sequence[int]
) -> list[Path]:
    """Shards of `each` documents in row groups of `group`; more columns may be given, one value a document."""
    folder.mkdir(parents=True, exist_ok=True)
    table = pa.table(
        {
            "text": [" ".join(f"w{word}" for word in words_of(number)) for number in range(documents)],
            "id": [f"<d{number}>" for number in range(documents)],
            "url": [f"http://site.example/{number}" for number in range(documents)],
            "file_path": ["crawl.jsonl"] * documents,
            "offset": pa.array(range(documents), pa.int64()),
            **{name: pa.array(values, pa.int64()) for name, values in columns.items()},
        }
    )
    paths = []
    for number, first in enumerate(range(0, max(1, documents), each)):
        paths.append(folder / f"part-{number:05d}.parquet")
        pq.write_table(table.slice(first, each), paths[-1], row_group_size=group)
    return paths
