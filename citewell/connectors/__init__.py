"""Connectors bring files from elsewhere and keep them up to date: `citewell sync`. Each is one module that implements `interface.Connector`."""
