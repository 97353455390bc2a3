"""Blob stores: a local folder or an object store."""
