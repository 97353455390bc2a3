"""Feature: links to single answers."""

ADDRESSES = ("/threads", "/shares", "/shared-answers", "/shared")
