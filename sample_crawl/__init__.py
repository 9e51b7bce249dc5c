"""A small crawl with known truth, built byte for byte by `python -m sample_crawl.build`."""
