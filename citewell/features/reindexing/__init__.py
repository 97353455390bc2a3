"""Feature: reindexing."""
