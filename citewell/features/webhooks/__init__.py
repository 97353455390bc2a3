"""Feature: webhooks. Other programs are told what happens here, and may have Citewell do three things."""

ADDRESSES = ("/webhooks",)
