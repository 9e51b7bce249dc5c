"""Looking into a finished run: why, audit, diff, funnel, lookup."""
