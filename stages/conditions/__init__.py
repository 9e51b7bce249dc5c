"""Conditions over values with names: `characters between 200 and 100000 and digit_ratio < 0.2`."""
