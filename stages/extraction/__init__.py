"""What extract and prescreen are made of: markup repair, extractors, whole visible text, memo."""
