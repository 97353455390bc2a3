"""The database side of vector indexes: registry, embedding cache, point ledger, passages awaiting vectors."""
