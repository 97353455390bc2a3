"""Feature: estimates."""
