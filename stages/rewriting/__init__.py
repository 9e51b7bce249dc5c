"""Edits of a text: patterns on an engine of linear time, and those that are built in."""
