"""Sources: what kinds of input there are, and what a reader yields."""
