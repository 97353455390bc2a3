"""Feature: health."""
