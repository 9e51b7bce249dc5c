"""The stages that come with curate: one file, one stage, one config word."""
