"""What `curate(pages)` does without a config: the primer's belt (*Pretraining at scale*, section 1i).

Language by stop words, the Gopher rules, SHA-1, MinHash.
"""

from typing import Any

STAGES: list[Any] = [
    {"language": {"engine": "stop_words", "keep": ["en"], "min_score": None}},
    "gopher",
    "exact_dedup",
    "near_dedup",
]
