"""Adapters through which other products use Citewell in the terms of their own interfaces. Each is thin: the services do the work."""
