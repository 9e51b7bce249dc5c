"""`python -m curate`."""

from curate.cli import main

main()
