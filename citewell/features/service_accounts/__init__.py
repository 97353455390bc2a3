"""Feature: service accounts."""
