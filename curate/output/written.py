"""What the write phase tells of the files that it wrote: plain JSON, since a resumed run reads it back."""

from typing import Any, NamedTuple, NotRequired, TypedDict

Row = list[Any]  # keys, then integers


class ShardFacts(TypedDict):
    """What one shard came to. `rows` are more than `documents` where a mixture repeats rows."""

    name: str  # under `shards/`
    rows: int
    bytes: int  # of the file
    sha256: str
    documents: int
    kept: list[Row]  # [source, language, documents, words, text bytes, tokens]


class TableFacts(TypedDict):
    """What one part of ledger or measures came to; all but `rows` is told of the ledger alone."""

    rows: int
    dropped: NotRequired[list[Row]]  # [stage, reason, source, language, documents, words, text bytes, crawl bytes]
    lost: NotRequired[dict[str, dict[str, int]]]  # documents dropped for a twin, by source and by domain
    samples: NotRequired[list[Row]]  # [stage, reason, hash, source, file, offset]


class Written(NamedTuple):
    """The facts of all shards and of all parts of the ledger, in order."""

    shards: list[ShardFacts]
    ledger: list[TableFacts]
