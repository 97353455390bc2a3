"""Feature: suggestions."""
