"""Streaming curation of web crawls into pretraining shards."""

__version__ = "0.1.0"
