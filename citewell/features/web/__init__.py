"""The built browser interface: its files, and the headers that protect it."""
