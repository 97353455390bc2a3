"""Webhooks call public addresses only: however an address is written, whatever a name answers the second time, wherever a redirect leads."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

import pytest

from citewell.adapters.webhook.addresses import may_be_called, reached
from citewell.adapters.webhook.guarded import GuardedSender
from citewell.errors import InvalidInput, Unavailable

INSIDE = [
    "127.0.0.1", "127.8.9.1", "10.0.0.1", "172.16.5.4", "192.168.1.1", "100.64.0.1", "192.0.2.1", "198.18.0.1", "::1", "fc00::1", "fd12::1",
    "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a00:1", "2002:7f00:1::", "2001:db8::1",
]  # fmt: skip
NEVER = [
    "0.0.0.0", "169.254.169.254", "224.0.0.1", "255.255.255.255", "240.0.0.1", "::", "fe80::1", "fe80::1%eth0", "ff02::1", "fec0::1",
    "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::", "::169.254.169.254", "::ffff:0.0.0.0",
]  # fmt: skip
PUBLIC = ["8.8.8.8", "93.184.215.14", "2606:4700:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]


@pytest.mark.parametrize("text", INSIDE)
def test_an_address_inside_is_called_only_where_that_is_allowed(text: str) -> None:
    assert not may_be_called(reached(text), private=False)
    assert may_be_called(reached(text), private=True)


@pytest.mark.parametrize("text", NEVER)
def test_some_addresses_are_never_called(text: str) -> None:
    assert not may_be_called(reached(text), private=False)
    assert not may_be_called(reached(text), private=True)


@pytest.mark.parametrize("text", PUBLIC)
def test_a_public_address_is_called(text: str) -> None:
    assert may_be_called(reached(text), private=False)


@pytest.mark.parametrize(
    "host",
    ["2130706433", "0x7f000001", "0177.0.0.1", "127.1", "127.0.0.1", "[::1]", "[::ffff:7f00:1]", "localhost", "0",
     "169.254.169.254", "2852039166", "[::ffff:169.254.169.254]", "[fe80::1]"],
)  # fmt: skip
async def test_however_an_inner_address_is_written_it_is_refused(host: str) -> None:
    with pytest.raises(InvalidInput, match=r"internal address|not a URL"):
        await GuardedSender(private=False).post(f"https://{host}/", {}, b"{}")


async def test_what_address_a_name_inside_has_is_not_told() -> None:
    async def inside(_host: str, _port: int) -> Sequence[str]:
        return ["10.11.12.13"]

    with pytest.raises(InvalidInput, match="internal address") as refused:
        await GuardedSender(private=False, resolve=inside).post("https://database.example/", {}, b"{}")
    assert "10.11" not in refused.value.message


@pytest.mark.parametrize(
    ("url", "said"),
    [("http://example.com/", "https"), ("ftp://example.com/", "https"), ("https:///x", "host"), ("https://a:b@example.com/", "password"),
     ("https://[::1/", "URL"), ("file:///etc/passwd", "https"), ("", "https"), ("https://exa\x00mple.com/", "URL")],
)  # fmt: skip
async def test_what_is_no_address_of_a_receiver_is_refused(url: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        await GuardedSender(private=False).post(url, {}, b"{}")


class Names:
    """Answers look-ups one after the other, as a name that is bound anew does; the last answer stays."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = list(answers)
        self.asked = 0

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked += 1
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@asynccontextmanager
async def receiver(answer: bytes, seen: list[bytes]) -> AsyncGenerator[int]:
    """A server that keeps what it is sent and answers this; empty: it does not answer. Gives its port."""

    serving: list[asyncio.Task[None] | None] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving.append(asyncio.current_task())
        seen.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(answer)
        if not answer:
            await reader.read()  # the client's body, until it gives up
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await asyncio.gather(*filter(None, serving))


OK = b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"


async def test_the_address_that_was_checked_is_the_one_that_is_dialled() -> None:
    seen: list[bytes] = []
    async with receiver(OK, seen) as port:
        names = Names(["127.0.0.1"], ["169.254.169.254"])
        sender = GuardedSender(private=True, resolve=names)
        done = await sender.post(f"http://hooks.example:{port}/in?x=1", {"webhook-id": "msg_1"}, b"{}")
    assert done.status == 204
    assert names.asked == 1
    assert seen[0].startswith(b"POST /in?x=1 ")
    assert f"host: hooks.example:{port}".encode() in seen[0].lower()
    assert b"webhook-id: msg_1" in seen[0]


async def test_a_name_that_is_bound_anew_is_checked_anew() -> None:
    seen: list[bytes] = []
    async with receiver(OK, seen) as port:
        sender = GuardedSender(private=True, resolve=Names(["127.0.0.1"], ["169.254.169.254"]))
        await sender.post(f"http://hooks.example:{port}/", {}, b"{}")
        with pytest.raises(InvalidInput, match="internal address"):
            await sender.post(f"http://hooks.example:{port}/", {}, b"{}")
    assert len(seen) == 1


async def test_one_inner_address_among_others_is_enough_to_refuse_a_name() -> None:
    sender = GuardedSender(private=False, resolve=Names(["93.184.215.14", "10.0.0.1"]))
    with pytest.raises(InvalidInput, match="internal address"):
        await sender.post("https://hooks.example/", {}, b"{}")


async def test_the_next_address_of_a_name_is_tried_where_one_does_not_answer() -> None:
    seen: list[bytes] = []
    async with receiver(OK, seen) as port:
        sender = GuardedSender(private=True, resolve=Names(["127.0.0.9", "127.0.0.1"]))
        assert (await sender.post(f"http://hooks.example:{port}/", {}, b"{}")).status == 204


async def test_a_redirect_is_an_answer_and_not_followed() -> None:
    seen: list[bytes] = []
    redirect = b"HTTP/1.1 307 Temporary Redirect\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n"
    async with receiver(redirect, seen) as port:
        sender = GuardedSender(private=True, resolve=Names(["127.0.0.1"]))
        assert (await sender.post(f"http://hooks.example:{port}/", {}, b"{}")).status == 307
    assert len(seen) == 1


async def test_an_endless_answer_is_not_read_and_a_wish_to_wait_is() -> None:
    seen: list[bytes] = []
    endless = b"HTTP/1.1 429 Slow down\r\nRetry-After: 120\r\nContent-Length: 99999999999\r\n\r\n" + b"x" * 1000
    async with receiver(endless, seen) as port:
        sender = GuardedSender(private=True, resolve=Names(["127.0.0.1"]))
        done = await sender.post(f"http://hooks.example:{port}/", {}, b"{}")
    assert (done.status, done.retry_after) == (429, 120.0)


async def test_who_does_not_answer_is_given_up_in_time() -> None:
    seen: list[bytes] = []
    async with receiver(b"", seen) as port:
        sender = GuardedSender(private=True, seconds=0.2, resolve=Names(["127.0.0.1"]))
        with pytest.raises(Unavailable, match=r"within 0\.2 seconds"):
            await sender.post(f"http://hooks.example:{port}/", {}, b"{}")


async def test_nobody_there_is_said() -> None:
    seen: list[bytes] = []
    async with receiver(OK, seen) as port:
        pass
    with pytest.raises(Unavailable, match="cannot be reached"):
        await GuardedSender(private=True, resolve=Names(["127.0.0.1"])).post(f"http://h.example:{port}/", {}, b"{}")
