"""Threads, and links to single answers."""
