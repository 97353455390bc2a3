"""Adapters that call the addresses which owners register as webhooks."""
