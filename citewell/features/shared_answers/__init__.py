"""Feature: links to single answers."""
