"""Feature: search."""
