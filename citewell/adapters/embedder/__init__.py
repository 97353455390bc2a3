"""Embedders: the built-in model, vendors' models, and wrappers that batch, cache and retry."""
