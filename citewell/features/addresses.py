"""Addresses: the origin of a request, for limits, and where a passage opens in the browser."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

_IPV6_NETWORK = 64  # what one customer usually gets
_SHORTENED = {4: 24, 6: 48}


def network_of(address: str) -> str:
    """An address as a limit counts it: an IPv6 address as its network, because one customer has countless addresses."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if parsed.version == 4:
        return str(parsed)
    return str(ipaddress.ip_network((parsed, _IPV6_NETWORK), strict=False))


def shortened(address: str) -> str:
    """The network of an address, the first 24 bits (IPv4) or 48 bits (IPv6), which identifies a place rather than a person."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return ""
    return str(ipaddress.ip_network((parsed, _SHORTENED[parsed.version]), strict=False))


def host_name(header: str) -> str:
    """The host in a `Host` header, without its port; empty if there is none."""
    try:
        return urlsplit(f"//{header}").hostname or ""
    except ValueError:
        return ""


def passage_address(base: str, resource_id: str, chunk_id: str | None = None) -> str:
    """Where the browser interface opens a file, at the passage if one is given. base: the server's address."""
    passage = "" if chunk_id is None else f"?passage={chunk_id}"
    return f"{base.rstrip('/')}/library/{resource_id}{passage}"
