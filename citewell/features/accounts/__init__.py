"""Feature: accounts."""

ADDRESSES = ("/account", "/session", "/people", "/invitations", "/projects", "/shared-projects")
