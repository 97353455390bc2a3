"""Feature: indexes."""

ADDRESSES = ("/indexes",)
