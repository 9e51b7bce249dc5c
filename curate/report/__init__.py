"""What a run looks like from inside: tables, plots, the report."""
