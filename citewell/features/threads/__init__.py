"""Feature: threads."""
