"""OpenDocument texts and presentations (ODT, ODP, templates): `reader.py`; their encryption: `encryption.py`."""
