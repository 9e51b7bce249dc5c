"""Shards that lie in a folder for each value of a column."""
