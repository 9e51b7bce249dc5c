"""configs/fineweb.yaml is a right config, with FineWeb's stages in FineWeb's order."""

from pathlib import Path

import pytest

from curate.config.file import read_config

ROOT = Path(__file__).parents[1]


def test_the_recipe_is_read_and_holds_the_stages_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    config = read_config("configs/fineweb.yaml")
    names = [entry.name for entry in config.stages]
    assert names == ["url_filter", "extract", "language", "gopher", "c4", "fineweb", "pii", "tokens", "near_dedup"]
    assert config.write.order == "shuffle"
    assert [source.path for source in config.input.values()] == ["sample_crawl/*.warc.gz"]


def test_numbers_in_the_recipe_are_the_defaults_that_the_stages_document(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    stages = {entry.name: entry.stage for entry in read_config("configs/fineweb.yaml").stages}
    for name, elsewhere in (("gopher", {"profile": "datatrove"}), ("c4", {"require_end_mark": False}), ("fineweb", {})):
        assert stages[name] == type(stages[name])(**elsewhere)
