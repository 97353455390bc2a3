"""Doors through which other products reach Citewell, in the terms of their own interfaces. Each is thin: the services do the work."""
