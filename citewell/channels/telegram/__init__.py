"""The Telegram bot: files and questions come in as messages, answers go out with their sources (see `docs/telegram.md`)."""
