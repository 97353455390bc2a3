"""Feature: accounts."""
