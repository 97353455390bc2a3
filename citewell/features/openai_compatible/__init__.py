"""Feature: the chat completions that existing clients speak."""

ADDRESSES = ("/v1",)
