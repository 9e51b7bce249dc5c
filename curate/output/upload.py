"""An output on a remote file system: what lies there, and the upload: one PUT a file, the manifest last."""

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from curate.errors import UserError, cause
from curate.sources.answers import client_errors
from curate.sources.remote import file_system, mask_url

OBJECT_STORES = {"s3", "gs", "gcs", "abfs", "az", "adl", "oci", "oss"}


@dataclass(frozen=True)
class Remote:
    """A folder behind an fsspec URL. Raises UserError, with the URL masked, where it can't be reached."""

    target: str  # for messages
    system: Any
    root: str

    @classmethod
    def of(cls, url: str) -> "Remote":
        """Opens the file system of a URL; nothing is asked of it yet."""
        system, root = file_system(url, None)
        return cls(mask_url(url).rstrip("/"), system, root.rstrip("/"))

    def json(self, name: str) -> Any:
        """A JSON file of the folder; None where there is none."""
        try:
            content = json.loads(self.system.cat_file(f"{self.root}/{name}"))
        except FileNotFoundError:
            return None
        except client_errors(ValueError) as error:
            raise UserError(f"{self.target}/{name}: can't be read ({mask_url(cause(error))}); check the URL") from None
        return content

    def holds(self, names: Iterable[str]) -> bool:
        """Whether any of these files or folders is there."""
        try:
            return any(self.system.exists(f"{self.root}/{name}") for name in names)
        except client_errors() as error:
            raise UserError(f"{self.target}: can't be listed ({mask_url(cause(error))}); check the URL") from None

    def files(self, folders: Iterable[str]) -> list[str]:
        """URLs of all files in these folders."""
        try:
            return [
                f"{self.target}/{path.removeprefix(self.root).lstrip('/')}"
                for name in folders
                for path in self.system.find(f"{self.root}/{name}")
            ]
        except client_errors() as error:
            raise UserError(f"{self.target}: can't be listed ({mask_url(cause(error))}); check the URL") from None

    def remove(self, names: Iterable[str]) -> None:
        """Removes files and folders in this order."""
        try:
            for name in names:
                if self.system.exists(f"{self.root}/{name}"):
                    self.system.rm(f"{self.root}/{name}", recursive=True)
        except client_errors() as error:
            raise UserError(f"{self.target}: can't be cleared ({mask_url(cause(error))}); check the URL") from None

    def upload(self, folder: Path, log: Path, last: str) -> None:
        """Copies a folder's files but dot-files, each with one PUT; what `log` says is there is not sent again."""
        sent = _sent(log)
        paths = {
            path.relative_to(folder).as_posix(): path
            for path in sorted(folder.rglob("*"))
            if path.is_file() and not path.name.startswith(".")
        }
        with log.open("a", encoding="utf-8") as line:
            for name in sorted(paths, key=lambda name: (name == last, name)):
                size = paths[name].stat().st_size
                if sent.get(name) == size and name != last:
                    continue
                self._put(paths[name], name)
                line.write(f"\n{json.dumps([name, size])}")
                line.flush()

    def _put(self, path: Path, name: str) -> None:
        try:
            self._make_folder(f"{self.root}/{name}".rpartition("/")[0])
            self.system.put_file(str(path), f"{self.root}/{name}")
        except client_errors() as error:
            raise UserError(
                f"{self.target}: the upload of {name} failed ({mask_url(cause(error))}); run again to go on"
            ) from None

    def _make_folder(self, path: str) -> None:
        """Object stores have no folders, and would make a bucket instead."""
        protocols = self.system.protocol
        if OBJECT_STORES.isdisjoint([protocols] if isinstance(protocols, str) else protocols):
            self.system.makedirs(path, exist_ok=True)


def _sent(log: Path) -> dict[str, int]:
    """Files and sizes that a log of uploads names; of a line that a kill cut off, none."""
    sent: dict[str, int] = {}
    for line in log.read_text(encoding="utf-8").splitlines() if log.exists() else []:
        with suppress(ValueError):
            name, size = json.loads(line)
            sent[name] = size
    return sent
