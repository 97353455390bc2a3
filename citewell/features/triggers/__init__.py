"""Feature: triggers. Other programs have Citewell keep records, put metadata on a file, or answer a question."""

ADDRESSES = ("/webhooks",)
