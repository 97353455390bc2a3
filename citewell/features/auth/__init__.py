"""Feature: auth."""
