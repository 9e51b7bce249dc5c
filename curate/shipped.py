"""The folders that come along as data: recipes and the sample crawl."""

from pathlib import Path


def shipped(name: str) -> Path:
    """A folder of the project's top level: within this package in a wheel (`setup.py`), beside it in a checkout."""
    inside = Path(__file__).parent / "data" / name
    return inside if inside.is_dir() else Path(__file__).parents[1] / name
