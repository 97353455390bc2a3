"""Feature: the search of earlier conversations."""

ADDRESSES = ("/memory",)
