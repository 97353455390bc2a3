"""Feature: triggers, with which other programs store records, set metadata on a file, or ask a question."""

ADDRESSES = ("/webhooks",)
