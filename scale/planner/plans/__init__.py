"""A plan: what was asked, the answer section by section, and its text."""
