"""Feature: audit."""

ADDRESSES = ("/audit",)
