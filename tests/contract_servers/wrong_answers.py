"""A server that is none of ours: it says the same to everything that it is sent, or nothing ever."""

from __future__ import annotations

import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def answering(said: bytes | None) -> Generator[int]:
    """The port of a server on this machine that says this; None: nothing ever."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=talk, args=(connection,), daemon=True).start()

    def talk(connection: socket.socket) -> None:
        with connection:
            try:
                while connection.recv(65_536):
                    if said is not None:
                        connection.sendall(said)
            except OSError:
                return

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield listening.getsockname()[1]
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join(10)
