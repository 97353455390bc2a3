"""Feature: usage."""

ADDRESSES = ("/usage",)
