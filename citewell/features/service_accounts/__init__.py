"""Feature: service accounts."""

ADDRESSES = ("/service-accounts",)
