"""Embedders: the built-in model, and wrappers that remember and retry for any of them."""
