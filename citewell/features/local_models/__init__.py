"""Feature: local_models."""
