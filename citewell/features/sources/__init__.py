"""Feature: sources."""

ADDRESSES = ("/sources",)
