"""Feature: webhooks, which notify other programs of events."""

ADDRESSES = ("/webhooks",)
