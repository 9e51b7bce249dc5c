"""What differs from language to language: names, stop words, limits."""
