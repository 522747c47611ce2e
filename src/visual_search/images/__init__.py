"""Files to pixels, each file accounted for in the ledger."""
