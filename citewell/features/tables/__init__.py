"""Feature: tables."""

ADDRESSES = ("/resources",)
