"""What installed packages bring: the entry points of a group by their names."""

from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points


@lru_cache(maxsize=16)
def entries(group: str) -> dict[str, EntryPoint]:
    """Entry points by name, in the order of the names; the first distribution on the path wins."""
    found: dict[str, EntryPoint] = {}
    for point in entry_points(group=group):
        found.setdefault(point.name, point)
    return dict(sorted(found.items()))
