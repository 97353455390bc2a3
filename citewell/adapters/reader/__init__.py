"""Models that mark the words of a statement that answer a question."""
