"""Feature: threads."""

ADDRESSES = ("/threads",)
