"""What a run would have kept with other limits."""
