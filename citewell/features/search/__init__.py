"""Feature: search."""

ADDRESSES = ("/search",)
