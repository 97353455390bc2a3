"""The built browser interface: its files, and the headers that protect it."""

ADDRESSES = ("/", "/conversations", "/library", "/playground", "/settings", "/docs", "/assets")
