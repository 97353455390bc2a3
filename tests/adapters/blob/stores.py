"""Object stores on this machine: moto's S3, and a wire to it that can be cut."""

from __future__ import annotations

import contextlib
import socket
import threading
import uuid
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, cast

import boto3
from moto.server import ThreadedMotoServer

KEYS = {"s3_access_key_id": "tests", "s3_secret_access_key": "only for tests", "s3_region": "us-east-1"}


class Wire:
    """Passes connections on to a server; `cut` refuses them all until `mend`."""

    def __init__(self, port: int) -> None:
        self._target = ("127.0.0.1", port)
        self._sockets: set[socket.socket] = set()
        self._is_cut = False
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """End what is under way, and everything that begins."""
        self._is_cut = True
        for one in list(self._sockets):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def mend(self) -> None:
        """Pass connections on again."""
        self._is_cut = False

    def close(self) -> None:
        """Take no more connections."""
        self.cut()
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self._is_cut:
                client.close()
                continue
            try:
                server = socket.create_connection(self._target)
            except OSError:
                client.close()
                continue
            self._sockets |= {client, server}
            for source, sink in ((client, server), (server, client)):
                threading.Thread(target=self._pass, args=(source, sink), daemon=True).start()

    def _pass(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
        for one in (source, sink):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
            self._sockets.discard(one)


@contextmanager
def s3() -> Generator[str]:
    """The address of an S3 server."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    try:
        yield f"http://{host}:{port}"
    finally:
        server.stop()


def s3_client(address: str) -> Any:
    """Amazon's own client of that server."""
    connect = cast(Callable[..., Any], boto3.client)  # pyright: ignore[reportUnknownMemberType]
    return connect(
        "s3",
        endpoint_url=address,
        region_name=KEYS["s3_region"],
        aws_access_key_id=KEYS["s3_access_key_id"],
        aws_secret_access_key=KEYS["s3_secret_access_key"],
    )


def new_s3_bucket(address: str) -> str:
    """An empty bucket."""
    name = f"b{uuid.uuid4().hex[:12]}"
    s3_client(address).create_bucket(Bucket=name)
    return name
