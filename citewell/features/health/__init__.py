"""Feature: health."""

ADDRESSES = ("/health", "/ready", "/doctor", "/metrics")
