"""Feature: export and erasure of an owner's data."""

ADDRESSES = ("/export", "/erasure")
