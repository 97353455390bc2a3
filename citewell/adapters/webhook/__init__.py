"""Adapters that call the addresses owners register as webhooks."""
