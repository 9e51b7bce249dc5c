"""The Parquet writer: the same bytes however the rows come, row groups within their bounds, facts of the file."""

import itertools
from hashlib import sha256
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curate.config.file import Write
from curate.write.parquet import ParquetShard
from curate.write.shard_writer import FileFacts

ROWS = pa.table({"text": [f"text {number} " * (number % 7) for number in range(50)], "n": list(range(50))})


def written(path: Path, pieces: list[int], **write: int) -> FileFacts:
    with ParquetShard(path, ROWS.schema, Write(**write)) as writer:
        for start, end in zip([0, *pieces], [*pieces, 50], strict=True):
            writer.write(ROWS.slice(start, end - start))
        return writer.close()


@pytest.mark.parametrize("pieces", [[1], [25], [10, 10, 20], list(range(1, 50))], ids=len)
def test_pieces_change_no_byte(pieces: list[int], tmp_path: Path) -> None:
    one = written(tmp_path / "a", [], row_group_bytes=100)
    other = written(tmp_path / "b", pieces, row_group_bytes=100)
    assert one == other
    assert one.rows == 50 and one.bytes == (tmp_path / "a").stat().st_size
    assert one.sha256 == sha256((tmp_path / "b").read_bytes()).hexdigest()


def test_row_groups_keep_to_both_bounds(tmp_path: Path) -> None:
    written(tmp_path / "rows", [], row_group_rows=8)
    file = pq.ParquetFile(tmp_path / "rows")
    assert [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)] == [8] * 6 + [2]
    written(tmp_path / "bytes", [], row_group_bytes=100)
    file = pq.ParquetFile(tmp_path / "bytes")
    groups = [file.read_row_group(group, ["text"]).column(0).to_pylist() for group in range(file.num_row_groups)]
    assert all(sum(map(len, texts)) <= 100 for texts in groups)
    assert all(sum(map(len, one)) + len(other[0]) > 100 for one, other in itertools.pairwise(groups))


def test_a_file_given_up_is_closed(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), ParquetShard(tmp_path / "a", ROWS.schema, Write()) as writer:
        writer.write(ROWS)
        raise RuntimeError
    assert writer.file.is_open is False
