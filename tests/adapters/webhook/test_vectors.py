"""Ways to make a server call an inner address, each by itself: spellings of it, URLs that hide it, names that lead to it, redirects and rebinding."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import asynccontextmanager

import pytest

from citewell.adapters.webhook.guarded import GuardedSender
from citewell.errors import InvalidInput, Unavailable

pytestmark = pytest.mark.full

LOCAL = ("127.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1")
"""This machine and private networks: called only where the operator allows it."""
NEVER = ("169.254.169.254", "0.0.0.0", "168.63.129.16", "100.100.100.200", "192.0.0.192", "255.255.255.255")
"""Clouds' metadata services and what is no host: called by nobody."""
IPV6 = (
    "[::1]", "[::]", "[fe80::1]", "[fe80::1%25eth0]", "[fc00::1]", "[fd00::1]", "[fd00:ec2::254]", "[fd20:ce::254]", "[fec0::1]", "[ff02::1]",
    "[ff0e::1]", "[2001:db8::1]", "[3fff::1]", "[5f00::1]", "[100::1]", "[64:ff9b:1:a9fe:a9:fe00::]",
)  # fmt: skip
NAMES = {
    "localhost": ["127.0.0.1"],
    "localhost.": ["127.0.0.1"],
    "LOCALHOST": ["127.0.0.1"],
    "localtest.example": ["127.0.0.1"],
    "169.254.169.254.nip.example": ["169.254.169.254"],
    "metadata.google.internal": ["169.254.169.254"],
    "metadata": ["169.254.169.254"],
    "both.example": ["93.184.215.14", "10.0.0.1"],
    "both6.example": ["2606:4700:4700::1111", "::1"],
    "scoped.example": ["fe80::1%eth0"],
    "mapped.example": ["::ffff:10.0.0.1"],
    "nat64.example": ["64:ff9b::a9fe:a9fe"],
}


def spellings(text: str) -> Iterator[str]:
    """An IPv4 address as resolvers, URLs and IPv6 write it."""
    number, parts = int(ipaddress.IPv4Address(text)), [int(part) for part in text.split(".")]
    high, low = number >> 16, number & 0xFFFF
    yield from (text, f"{text}.", str(number), hex(number), f"0{number:o}")
    yield ".".join(f"0{part:o}" for part in parts)
    yield ".".join(f"0{part:04o}" for part in parts)
    yield ".".join(hex(part) for part in parts)
    yield from (
        f"{parts[0]}.{number & 0xFFFFFF}",
        f"{parts[0]}.{parts[1]}.{low}",
        f"0x{parts[0]:x}.0{parts[1]:o}.{low}",
    )
    yield from (text.replace(".", dot) for dot in "。．｡")
    yield "".join(chr(0xFF10 + int(one)) if one.isdigit() else one for one in text)
    yield "".join(chr(0x2460 + int(one) - 1) if one in "123456789" else one.replace("0", "⓪") for one in text)
    yield "".join(f"%{ord(one):02x}" for one in text)
    pair = f"{high:x}:{low:x}"
    yield from (f"[::ffff:{text}]", f"[::ffff:{pair}]", f"[0:0:0:0:0:FFFF:{pair}]", f"[::{text}]", f"[::ffff:0:{pair}]")
    yield from (f"[64:ff9b::{text}]", f"[64:ff9b::{pair}]", f"[64:ff9b:1::{pair}]", f"[2002:{pair}::1]")
    yield f"[2001:0:808:808::{high ^ 0xFFFF:x}:{low ^ 0xFFFF:x}]"
    yield from (f"[2606:4700::5efe:{pair}]", f"[2606:4700::200:5efe:{pair}]", f"[::ffff:{text}%25eth0]")


HOSTS = [*(one for text in (*LOCAL, *NEVER) for one in spellings(text)), *IPV6, *NAMES]
URLS = (
    "https://example.com@127.0.0.1/", "https://127.0.0.1@example.com/", "https://example.com:x@127.0.0.1/", "https://:@127.0.0.1/",
    "https://example.com%40127.0.0.1/", "https://127.0.0.1#@example.com/", "https://127.0.0.1?@example.com/", "https://127.0.0.1\\@example.com/",
    "https://example.com\\@127.0.0.1/", "https:127.0.0.1/", "https:///127.0.0.1/", "//127.0.0.1/", "https://127.0.0.1:443:80/", "https://127.0.0.1:99999/",
    "https://127.0.0.1:-1/", "https://[127.0.0.1]/", "https://[::1", "https://::1/", "https://127.0.0.1\r\nHost: example.com/",
    "https://exam\tple.com@127.0.0.1/", "https://127.0.0.1\x00.example.com/", " https://127.0.0.1/", "HTTPS://127.0.0.1/", "http://8.8.8.8/",
    "http://127.0.0.1/", "ftp://8.8.8.8/", "gopher://127.0.0.1:6379/_INFO", "file:///etc/passwd", "file://127.0.0.1/etc/passwd", "dict://127.0.0.1:11211/stat",
    "data:text/plain,x", "unix:///var/run/docker.sock", "jar:https://127.0.0.1!/", "javascript:0", "https://", "https://.", "https://%00/",
)  # fmt: skip


async def look_up(host: str, port: int) -> Sequence[str]:
    """The names above, and what the system's resolver makes of numbers; it asks nobody."""
    if host in NAMES or host.lower() in NAMES:
        return NAMES[host if host in NAMES else host.lower()]
    found = await asyncio.get_running_loop().getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST
    )
    return [str(one[4][0]) for one in found]


async def is_refused(url: str, *, private: bool) -> None:
    """See that nothing is dialled: other errors come from a connection that was tried."""
    sender = GuardedSender(private=private, seconds=5, resolve=look_up)
    with pytest.raises((InvalidInput, Unavailable), match=r"internal address|must|not a URL|cannot be resolved"):
        await sender.post(url, {}, b"{}")


@pytest.mark.parametrize("host", HOSTS)
async def test_no_spelling_and_no_name_of_an_inner_address_is_called(host: str) -> None:
    await is_refused(f"https://{host}:8443/x", private=False)


@pytest.mark.parametrize("host", [one for text in NEVER for one in spellings(text)])
async def test_where_private_networks_may_be_called_metadata_services_still_may_not(host: str) -> None:
    await is_refused(f"http://{host}/latest/meta-data/", private=True)


@pytest.mark.parametrize("url", URLS)
async def test_no_url_hides_an_inner_address_or_another_protocol(url: str) -> None:
    await is_refused(url, private=False)


@asynccontextmanager
async def redirecting(answer: str) -> AsyncGenerator[tuple[int, list[bytes]]]:
    """A receiver that leads elsewhere: its port, and the requests that came."""
    seen: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(answer.encode())
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        yield port, seen


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize(
    "to", ["http://127.0.0.1:{port}/inner", "//127.0.0.1:{port}/inner", "/inner", "http://169.254.169.254/", "file:///etc/passwd"]
)  # fmt: skip
async def test_no_redirect_is_followed(status: int, to: str) -> None:
    async with redirecting("") as (elsewhere, inner):
        answer = f"HTTP/1.1 {status} Elsewhere\r\nLocation: {to.format(port=elsewhere)}\r\nContent-Length: 0\r\n\r\n"
        async with redirecting(answer) as (port, seen):
            sender = GuardedSender(private=True, seconds=10)
            assert (await sender.post(f"http://127.0.0.1:{port}/", {}, b"{}")).status == status
    assert len(seen) == 1
    assert inner == []


@pytest.mark.parametrize("later", ["127.0.0.1", "169.254.169.254", "::1", "::ffff:127.0.0.1", "10.0.0.1", "0.0.0.0"])
async def test_a_name_is_looked_up_once_for_each_delivery_and_checked_each_time(later: str) -> None:
    answers = [["127.0.0.9"], [later]]
    asked: list[str] = []

    async def rebinding(host: str, port: int) -> Sequence[str]:
        asked.append(host)
        return answers[min(len(asked), len(answers)) - 1]

    with pytest.raises(Unavailable, match="cannot be reached"):  # the address that was checked, where nobody listens
        await GuardedSender(private=True, seconds=10, resolve=rebinding).post("http://hooks.example:9/", {}, b"{}")
    assert len(asked) == 1
    with pytest.raises(InvalidInput, match="internal address"):
        await GuardedSender(private=False, resolve=rebinding).post("https://hooks.example/", {}, b"{}")
