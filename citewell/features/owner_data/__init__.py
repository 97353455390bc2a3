"""Feature: what belongs to an owner, handed over or erased."""

ADDRESSES = ("/export", "/erasure")
