"""Feature: resources."""

ADDRESSES = ("/ingest", "/records", "/resources")
