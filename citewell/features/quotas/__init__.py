"""Feature: quotas."""

ADDRESSES = ("/quotas", "/people")
