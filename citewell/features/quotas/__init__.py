"""Feature: quotas."""
