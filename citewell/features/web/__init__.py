"""Feature: web. Sessions of browsers, and the browser interface itself."""
