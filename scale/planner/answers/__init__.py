"""The single questions of the command line, each a mapping and its text."""
