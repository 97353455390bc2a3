"""Feature: answers over OpenAI's Responses API, with `file_search`."""

ADDRESSES = ("/v1",)
