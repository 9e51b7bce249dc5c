"""Decide: corpus stages look at all sketches, and fill the table of verdicts."""
