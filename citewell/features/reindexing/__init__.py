"""Feature: reindexing."""

ADDRESSES = ("/reindex",)
