"""WET files: WARC files of `conversion` records, each the text of one page."""

from curate.sources.warc import WarcReader


class WetReader(WarcReader):
    """Reads .warc.wet.gz files; they are laid out as any WARC, and their conversions bring text."""
