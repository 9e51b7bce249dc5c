"""What may be asked of an export, on the command line as in `write: {export: …}`."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

Ratio = Annotated[float, Field(ge=0, lt=1)]


@dataclass(frozen=True, kw_only=True)
class ExportSettings:
    """Everything here changes the bytes of an export."""

    format: str
    """one of the formats that `curate export --help` lists"""
    tokenizer: str | None = None
    """path of a `tokenizer.json`; null: texts, which jsonl alone can hold"""
    end: str | None = None
    """token that ends each document; null: the one that the tokenizer has for it; \"\": none"""
    begin: str = ""
    """token that begins each document; \"\": none"""
    order: Literal["shuffle", "crawl"] = "shuffle"
    """shuffle: by a hash of seed and document, over all shards, within a mixture's phase; crawl: as in the shards"""
    seed: int = 0
    """of the shuffle"""
    validation: Ratio = 0.0
    """share of the documents that go to the validation split, by a hash of their ids alone"""
    pack: Literal["none", "concat", "best_fit"] = "none"
    """none: a sequence is a document; concat: rows cut from the stream of documents; best_fit: few documents are cut"""
    length: Annotated[int, Field(ge=2, lt=1 << 31)] | None = None
    """tokens of a row, for `pack`"""
    pad: str | None = None
    """token that fills rows; null: the one that ends documents"""
    part_tokens: Annotated[int, Field(ge=1 << 10, le=1 << 30)] = 1 << 25
    """tokens (bytes, for texts) of a part about: a file, a shard or a chunk, and what a worker holds in memory"""
