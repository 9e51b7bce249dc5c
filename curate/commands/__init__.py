"""One file a command of `curate`."""
