"""Feature: local_models."""

ADDRESSES = ("/local-model",)
