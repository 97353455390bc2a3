"""What the database knows of vector indexes: their registry, the embedding cache, the point ledger, passages awaiting vectors."""
