"""Feature: the tools for MCP clients."""
