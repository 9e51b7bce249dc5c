"""The commands of `scale`, one file for those that belong together."""
