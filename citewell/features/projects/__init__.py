"""Feature: projects."""
