"""Feature: chat."""

ADDRESSES = ("/chat",)
