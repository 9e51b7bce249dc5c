"""What near_dedup is made of: hashes of words, MinHash signatures, and the method in plain words."""
