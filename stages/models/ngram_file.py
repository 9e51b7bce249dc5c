"""N-gram language models by path: ARPA text or any of KenLM's binary files, loaded once a process."""

import zlib
from functools import lru_cache
from pathlib import Path

from curate.errors import UserError, cause
from stages.models.arpa import Arpa
from stages.models.backoff import Tables
from stages.models.kenlm_file import PROBING, REST_PROBING, is_kenlm, opened
from stages.models.kenlm_probing import Probing
from stages.models.kenlm_trie import Trie


@lru_cache(maxsize=64)
def load_ngrams(path: str) -> Tables:
    """The model in a file. Raises UserError for one that is missing or can't be read."""
    if not Path(path).is_file():
        raise UserError(f"{path}: there is no such model; give an ARPA file or one of KenLM's build_binary")
    try:
        if not is_kenlm(path):
            return Arpa(path)
        header, content = opened(path)
        return Probing(header, content) if header.kind in (PROBING, REST_PROBING) else Trie(header, content)
    except (ValueError, OSError, EOFError, zlib.error) as error:
        raise UserError(f"{path}: is no n-gram model ({cause(error)}); give another file") from None
