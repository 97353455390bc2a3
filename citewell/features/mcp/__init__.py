"""Feature: the tools for MCP clients."""

# Its one address is no route: `citewell.app` gives it to an ASGI endpoint.
ADDRESSES: tuple[str, ...] = ()
