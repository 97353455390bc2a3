"""Feature: usage."""
