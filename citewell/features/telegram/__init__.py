"""Feature: telegram."""

ADDRESSES = ("/telegram",)
