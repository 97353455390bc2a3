"""Feature: telegram."""
