"""Feature: an API compatible with OpenAI's chat completions, for existing clients."""

ADDRESSES = ("/v1",)
