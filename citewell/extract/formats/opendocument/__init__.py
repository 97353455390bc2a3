"""OpenDocument texts and presentations (ODT, ODP and their templates): `reader.py`; their encryption: `encryption.py`."""
