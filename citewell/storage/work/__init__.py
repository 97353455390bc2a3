"""Durable work on files: leased stages, re-indexing, and payload changes not yet applied to the indexes."""
