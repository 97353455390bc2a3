"""Feature: sources."""
