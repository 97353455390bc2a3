"""Feature: the chat completions that existing clients speak."""
