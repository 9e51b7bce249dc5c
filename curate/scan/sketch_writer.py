"""What the scan tasks, and the passes that edit texts, append of sketches: three or four flat files for each stage."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np

from curate.document import Document
from curate.stage import CorpusStage, Sketch, declared

FILES = ("keys", "counts", "records")
CARRIED = "carried"  # one more, of stages whose keys carry something
COUNT = np.dtype("<u4")
KEY = np.dtype("<u8")


def sketch_all(stage: CorpusStage, docs: Sequence[Document]) -> list[Sketch]:
    """The sketches of some documents: the same bytes as one by one, faster if the stage has `sketch_all`."""
    together = declared(stage).sketch_all
    return list(together(docs)) if together else [stage.sketch(doc) for doc in docs]


def sketched_after(stages: Sequence[tuple[str, CorpusStage]], index: int) -> list[tuple[str, CorpusStage]]:
    """The stages that sketch texts as stage number `index` left them (-1: as the scan did): to the next that cuts."""
    found = []
    for name, stage in stages[index + 1 :]:
        found.append((name, stage))
        if declared(stage).spans:
            break
    return found


class SketchWriter:
    """Appends the sketches of one task's survivors for one stage, in document order."""

    def __init__(self, folder: Path, name: str, stage: CorpusStage) -> None:
        self._open(folder, name, stage, dict.fromkeys((*FILES, CARRIED), 0))

    def _open(self, folder: Path, name: str, stage: CorpusStage, lengths: Mapping[str, int]) -> None:
        self.name = name
        self.itemsize = 0 if stage.record is None else stage.record.itemsize
        self.documents = lengths["counts"] // COUNT.itemsize
        self._files: dict[str, BinaryIO] = {}
        self.carries = declared(stage).carries
        for part in (*FILES, CARRIED) if self.carries else FILES:
            path = folder / f"{name}.{part}"
            path.touch()
            file = path.open("r+b")
            file.truncate(lengths[part])
            file.seek(lengths[part])
            self._files[part] = file

    @classmethod
    def resume(cls, folder: Path, name: str, stage: CorpusStage, lengths: Mapping[str, int]) -> "SketchWriter":
        """Goes on from a committed state; what was appended after it is cut off."""
        writer = cls.__new__(cls)
        writer._open(folder, name, stage, lengths)
        return writer

    def add(self, document: int, sketch: Sketch) -> None:
        """Appends the sketch of the task's next survivor.

        ValueError for a document out of order or a record of another size: a bug in the caller or the stage.
        """
        if document != self.documents:
            raise ValueError(f"{self.name}: sketch of document {document} where {self.documents} is due")
        record = b"" if sketch.record is None else sketch.record.tobytes()
        if len(record) != self.itemsize:
            raise ValueError(f"{self.name}: a record of {len(record)} bytes, {self.itemsize} declared")
        if self.carries:
            carried = b"" if sketch.carried is None else np.asarray(sketch.carried, dtype=KEY).tobytes()
            if len(carried) != len(sketch.keys) * KEY.itemsize:
                raise ValueError(f"{self.name}: {len(sketch.keys)} keys carry {len(carried)} bytes, not 8 each")
            self._files[CARRIED].write(carried)
        self._files["keys"].write(np.asarray(sketch.keys, dtype=KEY).tobytes())
        self._files["counts"].write(len(sketch.keys).to_bytes(4, "little"))
        self._files["records"].write(record)
        self.documents += 1

    def commit(self) -> dict[str, int]:
        """Flushes, and returns the lengths in bytes to resume from."""
        for file in self._files.values():
            file.flush()
        return {part: file.tell() for part, file in self._files.items()}

    def close(self) -> None:
        for file in self._files.values():
            file.close()
