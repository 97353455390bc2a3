"""Feature: estimates."""

ADDRESSES = ("/ingest",)
