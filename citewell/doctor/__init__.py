"""Checks a configuration: what is missing, what is insecure, and which providers answer. `citewell doctor` and the settings screen show the result."""
