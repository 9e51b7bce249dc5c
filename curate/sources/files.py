"""From what a config says to the list of files: globs, path lists, URLs."""

import glob
import gzip
import os
import re
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

from curate.errors import SourceError, UserError, cause
from curate.sources.formats import PAGE, bare, by_suffix, format_of
from curate.sources.members.zip_entries import BadArchive, EntryBytes, zip_entries
from curate.sources.reader import InputFile
from curate.sources.reading import in_archive, open_input, real_url
from curate.sources.remote import file_system, is_url, mask_url, retried
from curate.sources.settings import AUTO, SourceConfig

WACZ, WARC, ARCHIVED = ".wacz", "warc", "archive/"
MAX_LIST_BYTES = 1 << 30
VARIABLE = re.compile(r"\$(?:\w+|\{[^}]*\})")


def find_files(source: str, config: SourceConfig) -> list[InputFile]:
    """The files of a source in their order: as written, each glob by byte order.

    Raises UserError for a glob without a match, a file that is missing, unreadable, of an unknown kind or
    named twice, and SourceError for a server that fails for good.
    """
    if config.cdx and (config.path or config.paths):
        raise UserError(f"input.{source}: `cdx` stands in place of `path` and `paths`; make two sources of it")
    if config.where is not None and not config.cdx:
        raise UserError(f"input.{source}: `where` chooses rows of an index; name one with `cdx`")
    names: list[str] = []
    for given in config.given:
        names += _expanded(source, expanded(given), config)
    if config.paths is not None:
        names += _listed(source, config)
    if not names:
        raise UserError(
            f"input.{source}: no input is given; set `path` (a file, a glob, a URL) or `paths` (a list of paths)"
        )
    seen: set[str] = set()
    for name in names:
        format_of(name, config.kind, f"input.{source}")
        if identity(name) in seen:
            raise UserError(f"input.{source}: '{name}' is read twice; name it once")
        seen.add(identity(name))
    return _described(source, names, config)


def identity(name: str) -> str:
    """The one spelling of all that name the same file: a URL as it is, the real path of anything local."""
    archive, entry = in_archive(name)
    place = archive if is_url(archive) else os.path.realpath(_local_path(archive))
    return f"{place}!/{entry}" if entry else place


def _local_path(name: str) -> str:
    return name.removeprefix("file://")


def _expanded(source: str, given: str, config: SourceConfig) -> list[str]:
    """The files that a path or pattern stands for."""
    if is_url(given):
        if "*" not in given:  # `?` and `[` have other meanings in a URL
            return [mask_url(given)]
        fs, path = file_system(given, config.storage)
        try:
            found = retried(given, lambda: fs.glob(path), config.parallel_requests)
        except OSError:
            found = []
        names = sorted((mask_url(str(fs.unstrip_protocol(name))) for name in found), key=os.fsencode)
    elif os.path.isdir(_local_path(given)):  # noqa: PTH112  no error in a closed folder
        return _inside(source, given, config)
    elif not glob.has_magic(given) or os.path.exists(_local_path(given)):  # noqa: PTH110  no error in a closed folder
        return [given]
    else:
        scheme = given[: len(given) - len(_local_path(given))]
        names = sorted(glob.glob(_local_path(given), recursive=True), key=os.fsencode)  # noqa: PTH207  names as given
        names = [scheme + name for name in names if not Path(name).is_dir()]
    if not names:
        way_out = "check the pattern, and that you may read the folder"
        raise UserError(f"input.{source}: no file matches '{mask_url(given)}'; {way_out}")
    return names


def _inside(source: str, folder: str, config: SourceConfig) -> list[str]:
    """The files of known formats in a folder and the folders below it, by byte order; hidden ones are none of them."""
    root = Path(_local_path(folder))
    found: list[str] = []
    pages = False
    for place, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            pages = pages or PAGE.search(name) is not None
            if not name.startswith(".") and (config.format != AUTO or by_suffix(name)):
                found.append(str(Path(place, name)))
    if not found:
        advice = "holds single pages; put them into a WARC with `curate pack {0} -o pages.warc.gz`"
        none = "is a folder without a file of a known format; name its files, or set `format`"
        raise UserError(f"input.{source}: '{folder}' {(advice if pages else none).format(folder)}")
    scheme = folder[: len(folder) - len(_local_path(folder))]
    return [scheme + name for name in sorted(found, key=os.fsencode)]


def expanded(path: str) -> str:
    """A path with `~` and variables of the environment filled in. Raises UserError for a variable that is not set."""
    if is_url(path) or ("~" not in path and "$" not in path):
        return path
    expanded_path = os.path.expanduser(os.path.expandvars(path))  # noqa: PTH111  `~` may stand behind a variable
    if "$" in expanded_path and VARIABLE.search(expanded_path) and not Path(path).exists():
        raise UserError(
            f"'{path}': the variable {VARIABLE.findall(expanded_path)[0]} is not set; set it, or write the path out"
        )
    return path if Path(path).exists() else expanded_path


def _listed(source: str, config: SourceConfig) -> list[str]:
    """The paths in a list file, one a line, each behind the prefix."""
    path = expanded(config.paths or "")
    shown = f"input.{source}: the path list '{mask_url(path)}'"
    try:
        opened = open_input(path, config)
        data = opened.read_at(0, MAX_LIST_BYTES)
        opened.close()
        text = (gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data).decode("utf-8-sig")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise UserError(f"{shown} can't be read ({mask_url(cause(error))}); check the path") from None
    names = [line.strip() for line in text.split("\n")]
    prefix = expanded(config.prefix)
    names = [prefix + name for name in names if name and not name.startswith("#")]
    if not names:
        raise UserError(f"{shown} names no file; it needs one path a line")
    return [mask_url(name) if is_url(name) else name for name in names]


def _described(source: str, names: list[str], config: SourceConfig) -> list[InputFile]:
    remote = list(dict.fromkeys(archive for name in names if is_url(archive := in_archive(name)[0])))
    with ThreadPoolExecutor(max_workers=config.parallel_requests) as pool:
        asked = dict(zip(remote, pool.map(lambda name: _remote(source, name, config), remote)))
    found: list[InputFile] = []
    for name in names:
        archive, entry = in_archive(name)
        file = asked[archive] if archive in asked else _local(source, archive)
        held = _in_wacz(file, config) if entry or bare(name).endswith(WACZ) else [file]
        found += [inner for inner in held if inner.name == name] if entry else held
        if entry and name not in (inner.name for inner in held):
            raise UserError(f"input.{source}: '{archive}' holds no WARC file '{entry}'; it has {held[0].name}")
    return found


def _is_warc(name: str) -> bool:
    return by_suffix(name) == WARC and not bare(name).endswith(WACZ)


def _in_wacz(file: InputFile, config: SourceConfig) -> list[InputFile]:
    """The WARC files in a WACZ, by byte order; their offsets are those in the WARC files, as ever."""
    place = f"input.{file.source}: '{file.name}'"
    try:
        with closing(open_input(file.path, config)) as archive:
            held = [entry for entry in zip_entries(archive) if _is_warc(entry.name)]
            held = [entry for entry in held if entry.name.startswith(ARCHIVED)] or held
            for entry in held:
                EntryBytes(archive, entry)  # what can't be read is told before the run
    except BadArchive as error:
        way_out = "get it again, or take its WARC files out with `unzip`"
        raise UserError(f"{place} can't be read as a WACZ: {error}; {way_out}") from None
    except OSError as error:
        raise UserError(f"{place} can't be opened ({mask_url(cause(error))}); check the path") from None
    if not held:
        raise UserError(f"{place} holds no WARC file; a WACZ has them under '{ARCHIVED}'")
    if twice := {entry.name for entry in held if [other.name for other in held].count(entry.name) > 1}:
        raise UserError(f"{place} holds '{min(twice)}' twice; take its WARC files out with `unzip`")
    return [
        InputFile(file.source, f"{file.name}!/{entry.name}", entry.size, f"{file.version}-{entry.crc:08x}")
        for entry in sorted(held, key=lambda entry: os.fsencode(entry.name))
    ]


def _local(source: str, name: str) -> InputFile:
    path = Path(_local_path(name))
    place = f"input.{source}: '{name}'"
    try:
        stat = path.stat()
    except OSError as error:
        raise UserError(f"{place} can't be opened ({mask_url(cause(error))}); check the path") from None
    if path.is_dir():
        raise UserError(f"{place} is a directory; name its files, for example '{name.rstrip('/')}/*.warc.gz'")
    if not path.is_file():
        raise UserError(f"{place} is a pipe or a device, which can't be read twice; write it to a file first")
    if not os.access(path, os.R_OK):
        raise UserError(f"{place} may not be read by this user; change its permissions or leave it out")
    return InputFile(source, name, stat.st_size, str(stat.st_mtime_ns))


def is_there(file: InputFile) -> bool:
    """Whether a file is where it was; one behind a URL is taken to be. Raises SourceError where it was changed."""
    if is_url(file.name):
        return True
    archive, entry = in_archive(file.name)
    try:
        stat = Path(_local_path(archive)).stat()
    except OSError:
        return False
    version = f"{stat.st_mtime_ns}{file.version[file.version.rfind('-') :] if entry else ''}"
    if version != file.version or (not entry and stat.st_size != file.size):
        raise SourceError(
            f"input.{file.source}: '{file.name}' was changed while the run read it ({file.size:,} bytes then, "
            f"{stat.st_size:,} now); let it come to rest and give --fresh"
        )
    return True


def size_now(name: str) -> int:
    """Bytes of a local file, or of one in a local archive. Raises OSError where it is not there."""
    if not in_archive(name)[1]:
        return Path(_local_path(name)).stat().st_size
    with closing(open_input(name, SourceConfig())) as opened:
        return opened.size


def _remote(source: str, name: str, config: SourceConfig) -> InputFile:
    url = real_url(name, config)
    fs, path = file_system(url, config.storage)
    try:
        info = retried(url, lambda: fs.info(path), config.parallel_requests)
    except OSError as error:
        raise UserError(f"input.{source}: '{name}' can't be opened ({mask_url(cause(error))}); check the URL") from None
    if not isinstance(info.get("size"), int):
        raise UserError(f"input.{source}: the server of '{name}' does not say how long it is; download it first")
    return InputFile(source, name, info["size"], next(_versions(info), ""))


def _versions(info: dict[str, object]) -> Iterator[str]:
    for key in ("ETag", "etag", "LastModified", "last_modified", "Last-Modified", "mtime"):
        if info.get(key):
            yield str(info[key])
