"""Which data is better? Published proxies of it, on equal samples of two runs."""
