"""Feature: files and vector stores as OpenAI's clients manage them."""

ADDRESSES = ("/v1",)
