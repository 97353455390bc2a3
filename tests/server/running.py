"""Starts `citewell serve` as a user would, and talks to it over HTTP.

Only what kills, stops or measures a process, or needs a disk, ports or a sandbox of its own, needs this: a start takes seconds of a
processor. Everything else talks to the application in this process, in the same way: `tests.server.in_process`.
"""

from __future__ import annotations

import os
import signal
import ssl
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

from citewell.system.folder import DataFolder
from citewell.types import TERMINAL

TLS = ssl.create_default_context()
"""For every client: making one takes longer than a request."""
_TERMINAL = {status.value for status in TERMINAL}


class Server(ABC):
    """A server on a data folder, and a client of its local owner."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self.url = ""
        self.client = httpx.Client(verify=TLS)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @abstractmethod
    def start(self) -> None: ...

    @abstractmethod
    def stop(self) -> None: ...

    def upload(self, name: str, content: bytes, **fields: str) -> httpx.Response:
        return self.client.post("/ingest", files={"file": (name, content)}, data=fields)

    def wait(self, resource_id: str, seconds: float = 120) -> dict[str, Any]:
        """The resource once it is terminal."""
        end = time.monotonic() + seconds
        while True:
            resource = self.client.get(f"/resources/{resource_id}").json()
            if resource["status"] in _TERMINAL:
                return resource
            if time.monotonic() > end:
                break
            time.sleep(0.05)
        raise AssertionError(f"not terminal after {seconds} s: {resource}{self._explanation()}")

    def add(self, name: str, content: bytes, **fields: str) -> dict[str, Any]:
        """Upload and wait."""
        response = self.upload(name, content, **fields)
        assert response.status_code in (200, 201), response.text
        return self.wait(response.json()["id"])

    def resources(self) -> list[dict[str, Any]]:
        """All resources, whatever their number."""
        found: list[dict[str, Any]] = []
        params: dict[str, str] = {"limit": "1000"}
        while True:
            page = self.client.get("/resources", params=params).json()
            found += page["resources"]
            if page["next_cursor"] is None:
                return found
            params["cursor"] = page["next_cursor"]

    def _explanation(self) -> str:
        """What helps to understand why a test failed."""
        return ""

    def _connect(self, url: str) -> None:
        self.url = url
        headers = {"Authorization": f"Bearer {DataFolder(self.data).token()}"}
        self.client = httpx.Client(base_url=url, headers=headers, timeout=120, verify=TLS)


class RunningServer(Server):
    """A server process on a data folder. `kill` ends it as a power cut would; `start` starts it again on the same folder."""

    def __init__(self, data: Path, **environment: str) -> None:
        super().__init__(data)
        self._environment = {k: v for k, v in os.environ.items() if not k.startswith("CITEWELL_")} | environment
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, seconds: float = 180) -> None:
        self.data.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "citewell.cli", "serve", "--data", str(self.data), "--port", "0"]
        with (self.data.parent / f"{self.data.name}.log").open("ab") as log:
            self._process = subprocess.Popen(
                command, stdout=log, stderr=log, env=self._environment, start_new_session=True
            )
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            holder = DataFolder(self.data).holder()
            if holder and holder.url and holder.pid == self._process.pid:
                self._connect(holder.url)
                return
            if self._process.poll() is not None:
                raise AssertionError(f"the server ended:\n{self.log()}")
            time.sleep(0.05)
        self.kill()
        raise AssertionError(f"the server did not start:\n{self.log()}")

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def processor_seconds(self) -> float:
        """What the server has computed since it started, in all its threads."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def ended(self) -> bool:
        """Whether the process is gone."""
        return self._process is None or self._process.poll() is not None

    def log(self) -> str:
        return (self.data.parent / f"{self.data.name}.log").read_text(encoding="utf-8", errors="replace")[-4000:]

    def _explanation(self) -> str:
        return f"\n{self.log()}"

    def kill(self) -> None:
        """kill -9 of the server and everything it started."""
        assert self._process is not None
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self.client.close()

    def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(20)
            except subprocess.TimeoutExpired:
                self.kill()
        self.client.close()
