"""Feature: projects."""

ADDRESSES = ("/projects",)
