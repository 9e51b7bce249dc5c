"""An export: every format gives back the tokens that went in, wherever it was cut, stopped or shared out."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from curate.errors import UserError
from curate.executors.executor import Executor, Outcome, Serial
from curate.executors.processes import Processes
from curate.export import arrange, tokenise
from curate.export.export import Exported, export
from curate.export.formats import installed
from curate.export.settings import ExportSettings
from tests.export.readers import READERS
from tests.export.shards_made import tokens_of, write_shards
from tests.export.tokenizers_made import of_words

DOCUMENTS = 600
ROWS = {"pack": "concat", "length": 8}


@pytest.fixture
def shards(tmp_path: Path) -> list[Path]:
    return write_shards(tmp_path / "shards", DOCUMENTS)


@pytest.fixture
def words(tmp_path: Path) -> str:
    return of_words(tmp_path / "words.json")


def run(
    shards: list[Path], final: Path, executor: Executor | None = None, fresh: bool = False, **more: Any
) -> Exported:
    """An export in many small tasks and parts."""
    settings = ExportSettings(**{"part_tokens": 1 << 10, **more})
    return export(executor or Serial(), shards, "made", settings, final, fresh)


def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("curate.export.export.LEAST_TEXT", 1)
    monkeypatch.setattr("curate.export.export.TASKS", 1 << 30)


def tree(folder: Path) -> str:
    """A hash over all names and bytes, hidden files aside."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.name.startswith("."):
            digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def documents(tokens: list[list[int]]) -> Counter[tuple[int, ...]]:
    """The documents in sequences, told by the token that ends each."""
    stream = [token for sequence in tokens for token in sequence]
    ends = [place + 1 for place, token in enumerate(stream) if token == 0]
    return Counter(tuple(stream[start:end]) for start, end in zip([0, *ends], ends))


EXPECTED = Counter(tuple(tokens_of(number)) for number in range(DOCUMENTS))


@pytest.mark.parametrize("form", sorted(READERS))
def test_each_format_gives_back_every_document(form: str, shards: list[Path], words: str, tmp_path: Path) -> None:
    facts = run(shards, tmp_path / "out", format=form, tokenizer=words, **(ROWS if form == "litdata" else {})).facts
    read = READERS[form](tmp_path / "out", "train")
    found = documents(read)
    del found[(0,)]  # what fills rows
    assert found == EXPECTED
    assert sum(map(len, read)) == facts["splits"]["train"]["tokens"]
    assert facts["splits"]["train"]["documents"] == DOCUMENTS
    assert read != [tokens_of(number) for number in range(DOCUMENTS)]


def test_every_format_is_tested() -> None:
    assert set(installed()) == set(READERS)


@pytest.mark.parametrize("form", sorted(READERS))
def test_a_wide_vocabulary_takes_four_bytes(form: str, shards: list[Path], tmp_path: Path) -> None:
    wide = of_words(tmp_path / "wide.json", gap=65_535 - 40)
    more: dict[str, Any] = {"format": form, "tokenizer": wide, "order": "crawl", "part_tokens": 1 << 20}
    facts = run(shards, tmp_path / "out", **more, **(ROWS if form == "litdata" else {})).facts
    assert facts["tokenizer"]["type"] == "uint32"
    stream = [token for sequence in READERS[form](tmp_path / "out", "train") for token in sequence]
    expected = [65_535 if token == 40 else token for number in range(DOCUMENTS) for token in tokens_of(number)]
    assert stream[: len(expected)] == expected


def test_the_widest_vocabulary_of_two_bytes(shards: list[Path], tmp_path: Path) -> None:
    wide = of_words(tmp_path / "wide.json", gap=65_534 - 40)
    assert run(shards, tmp_path / "out", format="bin", tokenizer=wide).facts["tokenizer"]["type"] == "uint16"


@pytest.mark.parametrize("form", sorted(READERS))
def test_the_same_bytes_by_any_executor(
    form: str, shards: list[Path], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_parts(monkeypatch)
    more: dict[str, Any] = {"format": form, "tokenizer": words, "validation": 0.2, **ROWS}
    hashes = set()
    for number, executor in enumerate([Serial(), Backwards()]):
        run(shards, tmp_path / f"out-{number}", executor, **more)
        hashes.add(tree(tmp_path / f"out-{number}"))
    assert len(hashes) == 1


def test_two_workers_write_the_same_bytes_as_one(shards: list[Path], words: str, tmp_path: Path) -> None:
    two = Processes(2)
    try:
        run(shards, tmp_path / "two", two, format="mds", tokenizer=words)
    finally:
        two.close()
    run(shards, tmp_path / "one", format="mds", tokenizer=words)
    assert tree(tmp_path / "one") == tree(tmp_path / "two")


class Backwards(Serial):
    """The last task first."""

    def map(self, function: Callable[[Any], Any], tasks: Sequence[Any]) -> Iterator[Outcome]:
        for index in reversed(range(len(tasks))):
            yield Outcome(index, function(tasks[index]))


class Killed(Exception):
    """Stands for a kill: nothing after it runs."""


@pytest.mark.parametrize("form", sorted(READERS))
def test_stopped_at_any_step_it_goes_on_to_the_same_bytes(
    form: str, shards: list[Path], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_parts(monkeypatch)
    more: dict[str, Any] = {"format": form, "tokenizer": words, "validation": 0.2, **ROWS}
    run(shards, tmp_path / "whole", **more)
    steps = [(tokenise, "_tokenise"), (arrange, "_write_part"), (arrange, "_write_index")]
    for module, step in steps:
        for after in (0, 1, 3):
            left = [after]
            real = getattr(module, step)

            def dying(*given: Any, real: Any = real, left: list[int] = left) -> Any:
                left[0] -= 1
                if left[0] < 0:
                    raise Killed
                return real(*given)

            with monkeypatch.context() as patched:
                patched.setattr(module, step, dying)
                with pytest.raises(Killed):
                    run(shards, tmp_path / "out", fresh=True, **more)
            run(shards, tmp_path / "out", **more)
            assert tree(tmp_path / "out") == tree(tmp_path / "whole")
            assert not (tmp_path / "out" / ".work").exists()


def test_the_shuffle_follows_the_seed_and_not_the_cut(
    shards: list[Path], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def order(name: str, **more: Any) -> list[list[int]]:
        run(shards, tmp_path / name, format="megatron", tokenizer=words, **more)
        return READERS["megatron"](tmp_path / name, "train")

    one = order("one")
    assert order("other", seed=1) != one
    assert order("crawl", order="crawl") == [tokens_of(number) for number in range(DOCUMENTS)]
    assert order("large", part_tokens=1 << 20) == one
    small_parts(monkeypatch)
    assert order("small") == one


def test_the_splits_share_no_document_and_follow_ids_alone(shards: list[Path], words: str, tmp_path: Path) -> None:
    def ids(name: str, split: str, **more: Any) -> set[str]:
        run(shards, tmp_path / name, format="bin", tokenizer=words, validation=0.3, **more)
        return {
            value
            for path in (tmp_path / name / "index").glob(f"{split}-*.parquet")
            for value in pq.read_table(path).column("id").to_pylist()
        }

    train, validation = ids("one", "train"), ids("one", "validation")
    assert not train & validation and len(train | validation) == DOCUMENTS
    assert DOCUMENTS * 0.22 < len(validation) < DOCUMENTS * 0.38  # 0.3 and 4 standard deviations of 0.019
    assert ids("other", "validation", seed=9, order="crawl") == validation


def test_copies_stand_apart_and_once_in_validation(words: str, tmp_path: Path) -> None:
    shards = write_shards(tmp_path / "shards", DOCUMENTS, copies=[3] * DOCUMENTS)
    splits = run(shards, tmp_path / "out", format="megatron", tokenizer=words, validation=0.3).facts["splits"]
    assert splits["train"]["documents"] == 3 * (DOCUMENTS - splits["validation"]["documents"])
    read = READERS["megatron"](tmp_path / "out", "train")
    together = sum(one == next for one, next in pairwise(read))
    assert together < len(read) / 10


def test_a_document_of_several_phases_stands_once_in_validation(words: str, tmp_path: Path) -> None:
    shards = write_shards(tmp_path / "shards", DOCUMENTS)
    rows = [(path, pq.read_table(path)) for path in shards]
    for path, table in rows:  # a row for each phase, as a mixture writes them
        twice = table.take(np.repeat(np.arange(table.num_rows), 2))
        pq.write_table(twice.append_column("phase", [np.arange(2 * table.num_rows) % 2]), path)
    splits = run(shards, tmp_path / "out", format="bin", tokenizer=words, validation=0.3).facts["splits"]
    assert splits["train"]["documents"] == 2 * (DOCUMENTS - splits["validation"]["documents"])


def test_phases_follow_each_other(words: str, tmp_path: Path) -> None:
    phases = [number % 3 for number in range(DOCUMENTS)]
    shards = write_shards(tmp_path / "shards", DOCUMENTS, phase=phases)
    run(shards, tmp_path / "out", format="bin", tokenizer=words)
    rows = [pq.read_table(path) for path in sorted((tmp_path / "out" / "index").glob("train-*"))]
    found = [phases[number] for table in rows for number in table.column("offset").to_pylist()]
    assert found == sorted(phases)
    assert [number for table in rows for number in table.column("offset").to_pylist()] != sorted(
        range(DOCUMENTS), key=lambda number: (phases[number], number)
    )


@pytest.mark.parametrize("pack", ["none", "concat", "best_fit"])
def test_the_index_names_the_document_of_every_token(
    pack: str, shards: list[Path], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_parts(monkeypatch)
    facts = run(
        shards, tmp_path / "out", format="bin", tokenizer=words, pack=pack, length=None if pack == "none" else 5
    ).facts
    (stream,) = READERS["bin"](tmp_path / "out", "train")
    found: dict[int, list[int]] = {}
    covered = 0
    for part in facts["parts"]:
        for row in pq.read_table(tmp_path / "out" / part["index"]).to_pylist():
            start, end = part["base"] + row["start"], part["base"] + row["end"]
            found.setdefault(row["offset"], []).extend(stream[start:end])
            covered += end - start
    assert found == {number: tokens_of(number) for number in range(DOCUMENTS)} or pack == "best_fit"
    assert {number: sorted(some) for number, some in found.items()} == {
        number: sorted(tokens_of(number)) for number in range(DOCUMENTS)
    }
    assert covered == len(stream) - facts["splits"]["train"]["padded"]


def test_texts_go_out_as_texts(shards: list[Path], tmp_path: Path) -> None:
    run(shards, tmp_path / "out", format="jsonl", order="crawl")
    lines = [json.loads(line) for path in sorted((tmp_path / "out").glob("*.jsonl")) for line in path.open()]
    rows = [row for path in shards for row in pq.read_table(path, columns=["id", "url", "text"]).to_pylist()]
    assert lines == rows


def test_marks_are_those_asked_for(shards: list[Path], words: str, tmp_path: Path) -> None:
    run(shards, tmp_path / "out", format="megatron", tokenizer=words, begin="w5", end="", order="crawl")
    assert READERS["megatron"](tmp_path / "out", "train")[:2] == [[6, *tokens_of(n)[:-1]] for n in range(2)]


def test_a_mark_written_out_in_a_text_ends_no_document(tmp_path: Path) -> None:
    from tests.export.tokenizers_made import END, byte_level

    path = byte_level(tmp_path / "t.json")
    shards = write_shards(tmp_path / "shards", 1)
    table = pq.read_table(shards[0])
    pq.write_table(table.set_column(0, "text", [[f"a {END} b"]]), shards[0])
    run(shards, tmp_path / "out", format="megatron", tokenizer=path)
    (tokens,) = READERS["megatron"](tmp_path / "out", "train")
    assert tokens.count(0) == 1 and tokens[-1] == 0


@pytest.mark.parametrize(
    ("more", "fault"),
    [
        ({"format": "mbs"}, "unknown format 'mbs', did you mean 'mds'?"),
        ({"format": "bin"}, "format bin: holds tokens"),
        ({"format": "jsonl", "pack": "concat", "length": 8}, "rows are of tokens"),
        ({"format": "litdata", "tokenizer": "WORDS"}, "knows no documents"),
        ({"format": "mds", "tokenizer": "WORDS", "pack": "concat"}, "pack and length .* go together"),
        ({"format": "mds", "tokenizer": "WORDS", "length": 8}, "pack and length .* go together"),
        ({"format": "mds", "tokenizer": "WORDS", "end": "</s>"}, "it has no token '</s>'"),
        ({"format": "mds", "tokenizer": "WORDS", "end": "", **ROWS}, "pad: "),
        ({"format": "mds", "tokenizer": "nowhere.json"}, "nowhere.json: can't be read (no such file)"),
    ],
)
def test_settings_that_cannot_be_are_refused(
    more: dict[str, Any], fault: str, shards: list[Path], words: str, tmp_path: Path
) -> None:
    if more.get("tokenizer") == "WORDS":
        more = {**more, "tokenizer": words}
    with pytest.raises(UserError, match=fault.replace("?", r"\?").replace("(", r"\(").replace(")", r"\)")):
        run(shards, tmp_path / "out", **more)
    assert not (tmp_path / "out").exists()


def test_an_export_is_not_made_twice_nor_over_another(shards: list[Path], words: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert not run(shards, out, format="bin", tokenizer=words).ready
    assert run(shards, out, format="bin", tokenizer=words).ready
    with pytest.raises(UserError, match="holds an export that differs"):
        run(shards, out, format="bin", tokenizer=words, seed=1)
    run(shards, out, fresh=True, format="mds", tokenizer=words)
    assert not (out / "train.bin").exists() and (out / "train" / "index.json").exists()


def test_a_folder_of_other_files_is_left_alone(shards: list[Path], words: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "thesis.txt").write_text("mine")
    for fresh in (False, True):
        with pytest.raises(UserError, match=r"'thesis\.txt', which no export made"):
            run(shards, out, fresh=fresh, format="bin", tokenizer=words)
    assert (out / "thesis.txt").read_text() == "mine"


def test_no_document_gives_no_split(words: str, tmp_path: Path) -> None:
    shards = write_shards(tmp_path / "shards", 0)
    facts = run(shards, tmp_path / "out", format="mds", tokenizer=words).facts
    assert facts["splits"] == {} and facts["files"] == []


def test_the_hashes_are_those_of_the_files(shards: list[Path], words: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    for file in run(shards, out, format="nanotron", tokenizer=words).facts["files"]:
        data = (out / file["name"]).read_bytes()
        assert (len(data), hashlib.sha256(data).hexdigest()) == (file["bytes"], file["sha256"])
    assert np.frombuffer((out / "train" / "00000_train.ds").read_bytes(), "<u2").size


@pytest.mark.parametrize("fault", ["no footer", "no data"])
def test_a_damaged_shard_is_named_in_a_sentence(fault: str, shards: list[Path], words: str, tmp_path: Path) -> None:
    data = shards[2].read_bytes()
    middle = len(data) // 2
    shards[2].write_bytes(data[:-20] if fault == "no footer" else data[:4] + b"\xff" * middle + data[4 + middle :])
    with pytest.raises(UserError, match=r"part-00002\.parquet: can't be read \(.*\); run `curate verify`"):
        run(shards, tmp_path / "out", format="bin", tokenizer=words)
