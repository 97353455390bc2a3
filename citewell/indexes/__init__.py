"""Open indexes: which one serves searches, writing chunks to them, and migrating between them."""
