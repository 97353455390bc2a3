"""Searches a server with a number of clients at once, each with one connection, and prints the times as JSON.

Runs in a process of its own and speaks plain HTTP/1.1, so that the client costs the machine as little as possible:
`python load.py PORT TOKEN CLIENTS REQUESTS QUERIES.json`.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path


async def client(
    port: int, token: str, queries: list[str], tickets: Iterator[int], times: list[float], errors: list[int]
) -> None:
    """Ask one query after the other until the tickets are used up."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for ticket in tickets:
        body = json.dumps({"query": queries[ticket % len(queries)], "top_k": 10}).encode()
        head = (
            f"POST /search HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        started = time.perf_counter()
        writer.write(head.encode() + body)
        status = await answer(reader)
        times.append((time.perf_counter() - started) * 1e3)
        if status != 200:
            errors.append(status)
    writer.close()


async def answer(reader: asyncio.StreamReader) -> int:
    """Read one answer to its end and return its status."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    length = next(line for line in head.split("\r\n") if line.startswith("content-length:"))
    await reader.readexactly(int(length.partition(":")[2]))
    return int(head.split()[1])


async def search(port: int, token: str, clients: int, requests: int, queries: list[str]) -> dict[str, object]:
    """All searches, shared between the clients; seconds for all, milliseconds for each, and statuses other than 200."""
    tickets = iter(range(requests))
    times: list[float] = []
    errors: list[int] = []
    started = time.perf_counter()
    await asyncio.gather(*(client(port, token, queries, tickets, times, errors) for _ in range(clients)))
    return {"seconds": time.perf_counter() - started, "times_ms": times, "errors": errors}


def main() -> None:
    port, token, clients, requests, path = sys.argv[1:]
    queries = json.loads(Path(path).read_text(encoding="utf-8"))
    print(json.dumps(asyncio.run(search(int(port), token, int(clients), int(requests), queries))))


if __name__ == "__main__":
    main()
