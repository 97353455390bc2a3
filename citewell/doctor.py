"""`citewell doctor`: what is configured, what can be reached, what is missing, and how to get it."""

from __future__ import annotations

import importlib.util
import platform
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Literal

from citewell import console
from citewell.adapters import registry
from citewell.client import call, connect
from citewell.errors import CitewellError
from citewell.extract import sandbox
from citewell.folder import DataFolder
from citewell.settings import Settings
from citewell.types import JsonValue

Level = Literal["ok", "note", "error"]
_MARKS = {"ok": "[green]ok   [/]", "note": "[yellow]note [/]", "error": "[red]error[/]"}
_LOW_DISK = 2 * 1024**3


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. `advice` says what to do about a note or an error."""

    part: str
    level: Level
    text: str
    advice: str = ""

    def to_json(self) -> dict[str, JsonValue]:
        """As `--json` prints it."""
        return asdict(self)


async def examine(settings: Settings) -> list[Finding]:
    """Look at every part, without changing anything but opening the data folder."""
    findings = [
        Finding(
            "citewell", "ok", f"{version('citewell')} on Python {platform.python_version()}, {platform.platform()}"
        ),
        _data_folder(settings),
        _exposure(settings),
        *_providers(settings),
        *_sandbox(),
        _optional("rapidocr", "OCR of scans and images", "pip install rapidocr"),
    ]
    return findings + await _server(settings)


def print_findings(findings: list[Finding]) -> None:
    """Findings as lines, advice below them."""
    for finding in findings:
        console.out.print(f"{_MARKS[finding.level]} {finding.part:<12} {console.escape(finding.text)}")
        if finding.advice:
            console.out.print(f"                   [dim]{console.escape(finding.advice)}[/]")


def _data_folder(settings: Settings) -> Finding:
    try:
        settings.data.mkdir(parents=True, exist_ok=True, mode=0o700)
        free = shutil.disk_usage(settings.data).free
    except OSError as error:
        return Finding("data folder", "error", f"{settings.data}: {error.strerror}", "Choose another with --data.")
    text = f"{settings.data} ({console.size(free)} free)"
    if free < _LOW_DISK:
        return Finding("data folder", "note", text, "Little space is left on this disk.")
    return Finding("data folder", "ok", text)


def _exposure(settings: Settings) -> Finding:
    if settings.auth_secret is not None:
        return Finding("accounts", "ok", f"JWTs signed with {settings.jwt_algorithm}, and tokens")
    if settings.is_loopback:
        return Finding("accounts", "ok", "local mode: one owner, one token, this machine only")
    advice = "Set CITEWELL_AUTH_SECRET, or listen on 127.0.0.1."
    return Finding("accounts", "error", f"none, but {settings.host} can be reached from outside", advice)


def _providers(settings: Settings) -> list[Finding]:
    chosen: list[tuple[str, str, Callable[[Settings], object]]] = [
        ("embeddings", settings.embedding_provider, registry.build_embedder),
        ("rerank", settings.rerank_provider, registry.build_reranker),
        ("chat", settings.chat_provider, registry.build_chat_model),
        ("vision", settings.vision_provider, registry.build_vision_model),
        ("blobs", settings.blob_backend, registry.build_blob_store),
    ]
    return [_provider(part, name, build, settings) for part, name, build in chosen]


def _provider(part: str, name: str, build: Callable[[Settings], object], settings: Settings) -> Finding:
    if name == "none":
        what = {"chat": "none: answers are extractive", "vision": "none: images are kept and read by OCR"}
        return Finding(part, "ok", what.get(part, "none"))
    try:
        build(settings)
    except CitewellError as error:
        return Finding(part, "error", f"{name}: {error.message}")
    return Finding(part, "ok", name)


def _sandbox() -> list[Finding]:
    report = sandbox.capabilities()
    missing = [f"{c.name}: {c.detail}" for c in report if not c.enforced]
    enforced = ", ".join(c.name for c in report if c.enforced)
    found = [Finding("parsers", "ok", f"kept in by {enforced}")]
    return found + [Finding("parsers", "note", f"not enforced here: {text}") for text in missing]


def _optional(package: str, purpose: str, advice: str) -> Finding:
    if importlib.util.find_spec(package) is None:
        return Finding(package, "note", f"not installed: no {purpose}", advice)
    return Finding(package, "ok", purpose)


async def _server(settings: Settings) -> list[Finding]:
    holder = DataFolder(settings.data).holder()
    who = f"a server at {holder.url}" if holder and holder.url else "in this process"
    try:
        async with connect(settings) as client:
            response = await client.get("/ready")
            parts = (
                response.json()["parts"] if response.status_code in (200, 503) else await call(client, "GET", "/ready")
            )
    except CitewellError as error:
        return [Finding("services", "error", f"{who}: {error.message}")]
    return [
        Finding(name, "ok" if part["ok"] else "error", f"{part.get('note') or 'works'} ({part['ms']} ms, {who})")
        for name, part in parts.items()
    ]
