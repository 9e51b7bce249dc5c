"""The extractor of our own: a page's blocks, what the page says of each, a small model's answer, and the text."""
