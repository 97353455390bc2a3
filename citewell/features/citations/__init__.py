"""Feature: citations of answers that others wrote, checked against the files."""

ADDRESSES = ("/citations",)
