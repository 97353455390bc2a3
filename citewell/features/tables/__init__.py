"""Feature: tables."""
