"""Kept and dropped pages by domain, fast enough for a million pages: no text is read, no URL parsed one by one."""

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from curate.inspect.opened import OpenedRun

# The host of a URL as RE2: after the scheme and a user name, up to port, path, query or fragment.
_HOST = r"^(?:[A-Za-z][A-Za-z0-9+.-]*:)?//(?:[^/?#@]*@)?(?P<host>\[[^\]]*\]|[^/?#:]*)"


@dataclass(frozen=True)
class Domain:
    """A domain ("" for pages without one) with its pages kept and dropped."""

    name: str
    kept: int
    dropped: int


def domains(run: OpenedRun, most: int) -> tuple[list[Domain], int]:
    """The `most` domains with the most pages, and how many domains there are."""
    kept, dropped = _counted(_kept(run)), _counted(run.read("ledger", ["domain"]).column("domain"))
    names = kept.keys() | dropped.keys()
    heaviest = sorted(names, key=lambda name: (-kept.get(name, 0) - dropped.get(name, 0), name))[:most]
    return [Domain(name, kept.get(name, 0), dropped.get(name, 0)) for name in heaviest], len(names)


def _kept(run: OpenedRun) -> pa.ChunkedArray:
    """Hosts of the kept pages, as `curate.output.schema.domain` gives them, but in one pass over the column."""
    if run.stats["kept"]["rows"] == run.stats["kept"]["documents"]:
        urls = run.read("shards", ["url"]).column("url")
    else:  # whole passes of the mixture written as rows: each document counts once
        places = run.read("shards", ["file_path", "offset", "url"]).group_by(["file_path", "offset"])
        urls = places.aggregate([("url", "min")]).column("url_min")
    hosts = pc.struct_field(pc.extract_regex(urls.cast(pa.string()), _HOST), "host")
    return pc.replace_substring_regex(pc.utf8_lower(pc.utf8_trim(hosts, "[]")), r"^www\.", "", max_replacements=1)


def _counted(names: pa.ChunkedArray) -> dict[str, int]:
    counted = pc.value_counts(pc.fill_null(names.cast(pa.string()), ""))
    return dict(zip(counted.field("values").to_pylist(), counted.field("counts").to_pylist()))
