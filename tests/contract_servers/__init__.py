"""Servers that answer by the vendors' published contracts, reject what the vendors reject, and can be scripted to misbehave."""
