"""Feature: chat."""
