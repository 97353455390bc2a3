"""Readers: one module or package per format, or family of formats."""
