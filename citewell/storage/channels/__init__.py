"""Connections to other programs: webhooks, triggers, Telegram, Claude uploads, synced sources."""
