"""The Telegram bot: receives files and questions as messages, and sends answers with their sources (see `docs/telegram.md`)."""
