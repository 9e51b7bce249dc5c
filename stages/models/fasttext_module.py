"""Whether the module `fasttext` is whole: several packages bring one of that name and overwrite each other silently."""

from importlib.metadata import packages_distributions

from curate.stage import Probe

ABOUT = "module fasttext"


def probe() -> Probe:
    """Who brings the module, for `curate doctor`."""
    owners = packages_distributions().get("fasttext", [])
    if len(set(owners)) == 1:
        return Probe(ABOUT, True, f"from {owners[0]} alone")
    origin = f"from {', '.join(sorted(set(owners)))}, which overwrite each other" if owners else "no package brings it"
    away = " ".join(sorted(set(owners) - {"fasttext-predict"}))
    mend = "python -m pip install --force-reinstall fasttext-predict"
    return Probe(ABOUT, False, origin, f"python -m pip uninstall -y {away}; {mend}" if away else mend)
