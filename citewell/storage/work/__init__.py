"""Durable work on files: leased stages, re-indexing, and payload changes that the indexes have yet to follow."""
