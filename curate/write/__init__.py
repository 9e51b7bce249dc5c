"""Write: shards, ledger, measures, and the books that must balance."""
