"""Which addresses Citewell may call for an owner: never those that only a server inside a network should reach, such as a cloud's metadata."""

from __future__ import annotations

import ipaddress
from typing import TypeAlias

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
# IPv6 addresses that stand for an IPv4 one, which is what is reached (RFC 6052, RFC 8215).
_TRANSLATED = (ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("64:ff9b:1::/96"))
_COMPATIBLE = ipaddress.IPv6Network("::/96")


def reached(text: str) -> Address:
    """The address that a packet to this one arrives at; ValueError for what is no address."""
    address = ipaddress.ip_address(text.partition("%")[0])
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    if any(address in network for network in (*_TRANSLATED, _COMPATIBLE)) and int(address) > 1:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address


def may_be_called(address: Address, *, private: bool) -> bool:
    """Whether an owner may have this address called. private: also this machine and its networks, though never link-local ones."""
    if address.is_loopback:
        return private
    if address.is_link_local or address.is_multicast or address.is_unspecified or address.is_reserved:
        return False
    if isinstance(address, ipaddress.IPv6Address) and address.is_site_local:
        return False
    return address.is_global or private
