"""Commands that make something: a run, a check before it, a model, a quarantine."""
