"""How records lie in files: gzip members, zstd frames, WARC headers, and where the next record starts."""
