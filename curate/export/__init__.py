"""Training files out of shards: tokens (or texts) in the layout that a trainer's own loader reads."""
