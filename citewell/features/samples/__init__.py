"""Feature: samples."""

ADDRESSES = ("/samples",)
