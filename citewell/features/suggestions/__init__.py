"""Feature: suggestions."""

ADDRESSES = ("/suggestions",)
