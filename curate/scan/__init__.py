"""Scan: each slice of a file goes down the belt once; survivors, drops and sketches are spilled."""
