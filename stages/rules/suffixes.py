"""Public suffixes (`com`, `co.uk`, `github.io`): under which anybody may have a site. Mozilla's list, as it came with
the package `publicsuffixlist`; nothing is fetched."""

import re
from functools import lru_cache

from publicsuffixlist import PublicSuffixList

_ADDRESS = re.compile(r"[\d.]+|.*:.*|")  # IP addresses have no suffix


@lru_cache(maxsize=1)
def _list() -> PublicSuffixList:
    return PublicSuffixList()


def suffix_of(host: str) -> str:
    """The longest public suffix of a host in lower case; its last label where the list knows none, "" of an address."""
    return "" if _ADDRESS.fullmatch(host) else _list().publicsuffix(host) or ""


def site_of(host: str) -> str:
    """The site that a host belongs to: one label more than its public suffix; itself where there is none."""
    return host if _ADDRESS.fullmatch(host) else _list().privatesuffix(host) or host


def is_suffix(domain: str) -> bool:
    """Whether sites of different people lie below a domain."""
    return bool(domain) and suffix_of(domain) == domain
