"""Feature: resources."""
