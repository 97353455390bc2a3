"""Feature: audit."""
