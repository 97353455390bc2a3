"""Feature: auth."""

ADDRESSES = ("/tokens", "/session")
