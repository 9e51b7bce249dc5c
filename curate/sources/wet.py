"""WET files: WARC files of `conversion` records, each the text of one page."""

from typing import ClassVar

from curate.sources.warc import WarcReader


class WetReader(WarcReader):
    """Reads .warc.wet.gz files; they are laid out as any WARC, and their conversions bring text."""

    suffixes: ClassVar[tuple[str, ...]] = (".wet",)
    pages: ClassVar[bool] = False
