"""Pictures, and what they say about themselves."""
