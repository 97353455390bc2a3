"""The filter language: what may be compared with what, and what a condition means."""
