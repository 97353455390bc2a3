"""Embedders: the built-in model, and wrappers for any of them that cache and retry."""
