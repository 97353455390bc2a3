"""Where a request comes from, as far as limits are concerned."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

_IPV6_NETWORK = 64  # what one customer usually has
_SHORTENED = {4: 24, 6: 48}


def network_of(address: str) -> str:
    """Whose address it is, as far as it tells: of IPv6, everybody has as many as they like."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if parsed.version == 4:
        return str(parsed)
    return str(ipaddress.ip_network((parsed, _IPV6_NETWORK), strict=False))


def shortened(address: str) -> str:
    """The network of an address: of IPv4 the first 24 bits, of IPv6 the first 48, so that it tells a place and not a person."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return ""
    return str(ipaddress.ip_network((parsed, _SHORTENED[parsed.version]), strict=False))


def host_name(header: str) -> str:
    """The host that a `Host` header names, without its port; empty where it names none."""
    try:
        return urlsplit(f"//{header}").hostname or ""
    except ValueError:
        return ""
