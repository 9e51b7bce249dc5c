"""The config: what a file may say, checked before a run begins."""

from curate.config.file import Config, read_config

__all__ = ["Config", "read_config"]
