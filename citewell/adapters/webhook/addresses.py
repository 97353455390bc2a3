"""Decides which addresses Citewell may call for an owner: never internal ones, such as cloud metadata services."""

from __future__ import annotations

import ipaddress
from typing import TypeAlias

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
# IPv6 prefixes that embed the IPv4 address actually reached (RFC 6052, RFC 8215).
_TRANSLATED = (ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("64:ff9b:1::/96"))
_COMPATIBLE = ipaddress.IPv6Network("::/96")
# The interface identifier of ISATAP addresses in any network, ignoring the "globally unique" bit (RFC 5214).
_ISATAP, _ISATAP_MASK = 0x0000_5EFE << 32, 0xFCFF_FFFF << 32
# Reserved networks (IANA's special-purpose registries) that some supported Python version classifies as global.
_NOT_GLOBAL = tuple(
    ipaddress.ip_network(text)
    for text in ("192.0.0.0/24", "192.88.99.0/24", "64:ff9b:1::/48", "100::/64", "2001::/23", "3fff::/20", "5f00::/16")
)
# Never a legitimate receiver: this network's own addresses, and cloud metadata services that are not link-local
# (Azure's, which has a public address, Alibaba's, Oracle's, and those of AWS and Google over IPv6).
_NEVER = tuple(
    ipaddress.ip_network(text)
    for text in ("0.0.0.0/8", "168.63.129.16", "100.100.100.200", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254")
)


def reached(text: str) -> Address:
    """The address that packets to `text` arrive at. Raises ValueError if it is not an address."""
    address = ipaddress.ip_address(text.partition("%")[0])
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    stands_for_another = any(address in network for network in (*_TRANSLATED, _COMPATIBLE)) and int(address) > 1
    if stands_for_another or int(address) & _ISATAP_MASK == _ISATAP:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address


def may_be_called(address: Address, *, private: bool) -> bool:
    """Whether an owner may have this address called.

    private: also allow this machine and its networks, but never link-local addresses.
    """
    if address.is_loopback:
        return private
    if address.is_link_local or address.is_multicast or address.is_unspecified or address.is_reserved:
        return False
    if isinstance(address, ipaddress.IPv6Address) and address.is_site_local:
        return False
    if any(address in network for network in _NEVER):
        return False
    return private or (address.is_global and not any(address in network for network in _NOT_GLOBAL))
