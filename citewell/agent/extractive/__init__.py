"""Answers without a model: the sentences of the passages found that answer, each with its citation."""
