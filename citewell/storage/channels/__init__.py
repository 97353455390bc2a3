"""What other programs send and receive: webhooks, triggers, Telegram, Claude uploads, synchronised sources."""
