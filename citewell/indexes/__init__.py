"""Open indexes: which one answers, writing chunks to them, and changing from one to another."""
