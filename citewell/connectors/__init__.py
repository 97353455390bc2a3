"""Connectors import files from other systems and keep them up to date (`citewell sync`). Each is one module that implements `interface.Connector`."""
