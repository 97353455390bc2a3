"""Feature: checks citations in answers written elsewhere."""

ADDRESSES = ("/citations",)
