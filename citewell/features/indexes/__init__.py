"""Feature: indexes."""
