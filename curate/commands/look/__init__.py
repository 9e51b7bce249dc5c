"""Commands that look into a finished run."""
