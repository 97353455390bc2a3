"""Adapters that let other products use Citewell through their own interfaces. Each is thin: the services do the work."""
