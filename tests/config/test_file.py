"""A config is checked as a whole before anything runs; each fault names its place and the way out."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

from curate.config.file import from_canonical, json_schema, parse_config, read_config
from curate.document import Document, Drop
from curate.errors import UserError
from stages.gopher import Gopher

RIGHT: dict[str, Any] = {"input": "a.warc.gz", "output": "out/", "stages": ["extract", "gopher"]}


def changed(**more: Any) -> dict[str, Any]:
    return {**RIGHT, **more}


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ([], "must be a mapping"),
        ({}, "'input' is missing"),
        (changed(stages=[]), "'stages' is missing"),
        (changed(output=""), "'output' is missing; it is a folder"),
        (changed(sead=1), "unknown option 'sead', did you mean 'seed'"),
        (changed(seed="x"), "seed: input should be a valid integer"),
        (changed(seed=True), "seed: input should be a valid integer"),
        (changed(max_failed=2), "max_failed: input should be less than or equal to 1"),
        (changed(stages=["gofer"]), r"stages\[0\]: unknown stage 'gofer', did you mean 'gopher'"),
        (changed(stages=[{"gopher": {"min_wrods": 3}}]), "unknown option 'min_wrods', did you mean 'min_words'"),
        (
            changed(stages=["extract", {"near_dedup": {"treshold": 0.8}}]),
            r"stages\[1\] near_dedup: unknown option 'treshold', did you mean 'threshold'",
        ),
        (changed(stages=[{"near_dedup": {"threshold": 8}}]), r"near_dedup: threshold: .*less than or equal to 1"),
        (changed(stages=[{"language": {"keep": 3}}]), r"stages\[0\] language: keep"),
        (changed(stages=[{"gopher": {}, "c4": {}}]), r"stages\[0\]: must be a stage's name"),
        (changed(stages=[{"gopher": 3}]), r"stages\[0\] gopher: options must be a mapping"),
        (changed(stages=["gopher", "gopher"]), r"stages\[1\] gopher: stands twice"),
        (changed(stages=["exact_dedup", "gopher"]), r"stages\[1\] gopher: .*must stand before 'exact_dedup'"),
        (changed(stages=["nowhere:Thing"]), "can't import 'nowhere'"),
        (changed(stages=["json:JSONDecoder"]), "JSONDecoder is no stage"),
        (changed(stages=["json:Nothing"]), "'json' has no 'Nothing'"),
        (changed(stages="gopher"), "'stages' must be a list"),
        (changed(input=3), "'input' must be"),
        (changed(input={"a b": "x"}), "'a b' is no name for a source"),
        (changed(input={"web": {"path": "x", "txt": "t"}}), "input.web: unknown option 'txt', did you mean 'text'"),
        (changed(write={"order": "random"}), "write: order"),
        (changed(write={"shard_bytes": 0}), "write: shard_bytes"),
        (changed(cpu_seconds=float("inf")), "cpu_seconds: input should be less than or equal to 1000000"),
        (changed(output="a\0b"), "holds a character that no file can store"),
        (changed(input={"web": {"path": "a\ud800.jsonl"}}), "holds a character that no file can store"),
        (
            changed(stages=[{"language": {"model": "x" * 300}}]),
            r"stages\[0\] language: x*: can't be read \(file name too long\)$",
        ),
        (
            changed(stages=[{"url_filter": {"words_file": "x" * 300}}]),
            r"stages\[0\] url_filter: x*: can't be read \(file name too long\)$",
        ),
        (changed(write=[]), "x.yaml: write: options must be a mapping"),
        (changed(caps=False), "x.yaml: caps: options must be a mapping"),
        (changed(caps={"depht": 3}), "caps: unknown option 'depht', did you mean 'depth'"),
    ],
)
def test_a_fault_is_one_sentence_with_its_place(config: Any, message: str) -> None:
    with pytest.raises(UserError, match=message) as caught:
        parse_config(config, "x.yaml")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["read", "guard", "caps"])
def test_no_package_may_call_its_stage_as_the_ledger_calls_its_own(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("curate.config.file.stage_class", lambda word: Gopher)
    with pytest.raises(UserError, match=rf"stages\[0\] {name}: is a stage of the ledger's own; name this one by"):
        parse_config(changed(stages=[name]))


def test_the_canonical_form_holds_every_default_and_reads_back() -> None:
    config = parse_config(changed(stages=[{"language": {"keep": ["no"]}}, "exact_dedup"], write={"by": "language"}))
    canonical = config.canonical()
    assert canonical["stages"][0]["language"]["min_score"] == 0.65
    assert "output" not in canonical
    assert from_canonical(canonical, "elsewhere/").canonical() == canonical


def test_inputs_may_be_a_path_a_list_or_named_sources() -> None:
    assert list(parse_config(RIGHT).input) == ["crawl"]
    assert parse_config(changed(input=["a.warc", "b.warc"])).input["crawl"].path == ("a.warc", "b.warc")
    assert parse_config(changed(input={"path": "x.parquet", "text": "body"})).input["crawl"].text == "body"
    named = parse_config(changed(input={"web": "a.warc", "wiki": {"path": "w.parquet"}}))
    assert list(named.input) == ["web", "wiki"]


def test_a_config_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="can't be read"):
        read_config(str(tmp_path / "none.yaml"))


def test_the_json_schema_knows_every_stage_and_key() -> None:
    schema = json_schema()
    assert {"input", "output", "stages", "write", "caps", "seed"} <= set(schema["properties"])
    words = {part["const"] for part in schema["properties"]["stages"]["items"]["anyOf"] if "const" in part}
    assert {"extract", "gopher", "near_dedup", "mixture"} <= words


@dataclass(frozen=True, kw_only=True)
class Careless:
    """A stage of one's own whose default is not of its type."""

    words: int = "ten"  # type: ignore[assignment]

    adds: ClassVar[Mapping[str, Any]] = {}
    reasons: ClassVar[tuple[str, ...]] = ()

    def apply(self, doc: Document) -> Document | Drop:
        return doc


def test_a_default_of_the_wrong_type_is_told_before_anything_runs() -> None:
    with pytest.raises(UserError, match=r"stages\[0\] .*Careless: words: input should be a valid integer"):
        parse_config(changed(stages=["tests.config.test_file:Careless"]))
