"""Examines the configuration for missing and insecure parts, for `citewell doctor` and the settings screen."""

from __future__ import annotations

import asyncio
import importlib.util
import platform
import shutil
import sys
from importlib.metadata import version
from urllib.parse import urlsplit

from citewell.adapters.chat.local_servers import LocalServer, find_local_servers
from citewell.doctor.probing import probe_providers
from citewell.extract import sandbox
from citewell.features.health.findings import Finding
from citewell.features.local_models.service import refusal_in
from citewell.settings import QdrantStore, Settings
from citewell.settings.values import is_loopback
from citewell.system import console
from citewell.system.folder import DataFolder
from citewell.system.lost_found import LostAndFound

_LOW_DISK = 2 * 1024**3
_SOUND_PATCHES = {(3, 11): 14, (3, 12): 12, (3, 13): 8}
"""The first patch release of each Python minor version without the vulnerabilities known in October 2025 in modules that read untrusted bytes here:
`tarfile` (CVE-2025-8194), `zipfile` (CVE-2024-0450, CVE-2025-8291), `email`, expat and `ipaddress` (CVE-2024-4032). Later minor versions never had them."""


_NEWER_PYTHON = "Upgrade Python, unless your distribution has fixed this version, as Debian does. Files are read in a sandbox with time and memory limits."


async def examine_configuration(settings: Settings) -> list[Finding]:
    """Check every part that needs no running services, and send each configured provider a minimal request. Takes several seconds."""
    providers, (before, after) = await asyncio.gather(
        probe_providers(settings), asyncio.to_thread(_this_machine, settings)
    )
    return [*before, *providers, *after]


def _this_machine(settings: Settings) -> tuple[list[Finding], list[Finding]]:
    """Findings that need no request, to list before and after those on providers."""
    before = [
        Finding(
            "citewell", "ok", f"{version('citewell')} on Python {platform.python_version()}, {platform.platform()}"
        ),
        *(Finding("python", "note", text, _NEWER_PYTHON) for text in faults_of_python(sys.version_info[:3])),
        _data_folder(settings),
        *_lost_files(settings),
        _exposure(settings),
        *key_in_the_open(settings),
        *(Finding("settings", "note", text) for text in settings.without_effect),
        *without_chat_model(settings),
    ]
    return before, [
        *_local_models(settings),
        *_sandbox(),
        _optional("rapidocr", "OCR of scans and images", "pip install rapidocr"),
    ]


def faults_of_python(version: tuple[int, int, int]) -> list[str]:
    """The known vulnerabilities of a Python version, as sentences."""
    major, minor, patch = version
    sound = _SOUND_PATCHES.get((major, minor), 0)
    if patch >= sound:
        return []
    return [
        f"Python {major}.{minor}.{patch} has known vulnerabilities in its archive, XML and mail parsers, fixed in {major}.{minor}.{sound}."
    ]


def _data_folder(settings: Settings) -> Finding:
    try:
        settings.data.mkdir(parents=True, exist_ok=True, mode=0o700)
        free = shutil.disk_usage(settings.data).free
    except OSError as error:
        return Finding("data folder", "error", f"{settings.data}: {error.strerror}", "Choose another with --data.")
    text = f"{settings.data} ({console.size(free)} free)"
    if free < _LOW_DISK:
        return Finding("data folder", "note", text, "This disk has little free space.")
    return Finding("data folder", "ok", text)


def _lost_files(settings: Settings) -> list[Finding]:
    lost = LostAndFound(settings.data)
    if not (found := lost.files()):
        return []
    text = f"{len(found):,} stored files ({console.size(sum(one.size for one in found))}) that are not in the database are in {lost.folder}"
    advice = "List them with `citewell folder lost`; add them again with `restore`, or delete them with `purge`."
    return [Finding("lost+found", "note", text, advice)]


def key_in_the_open(settings: Settings) -> list[Finding]:
    """Whether the Qdrant key is sent over a network unencrypted."""
    store = settings.store
    if not isinstance(store, QdrantStore) or store.api_key is None or (store.url is None and store.host is None):
        return []
    address = urlsplit(store.address)
    if address.scheme != "http" or is_loopback(address.hostname or ""):
        return []
    advice = f"Give the server a certificate, and use an address that begins with https in {store.name_of('url')}."
    return [Finding("vector store", "note", f"the Qdrant key is sent unencrypted to {address.hostname}", advice)]


def _exposure(settings: Settings) -> Finding:
    has_jwts = settings.auth.secret is not None or settings.auth.jwks_url is not None
    jwts = f"JWTs signed with {settings.auth.algorithm}, and " if has_jwts else ""
    if settings.accounts.is_on:
        how = "open to everyone" if settings.accounts.sign_up == "open" else "by invitation"
        return Finding("accounts", "ok", f"people with accounts (sign-up {how}), {jwts}tokens")
    if has_jwts:
        return Finding("accounts", "ok", f"{jwts}tokens")
    if settings.server.is_loopback:
        return Finding("accounts", "ok", "local mode: one owner, one token, this machine only")
    advice = "Set CITEWELL_ACCOUNTS=on or CITEWELL_AUTH_SECRET, or listen on 127.0.0.1."
    return Finding("accounts", "error", f"none, but {settings.server.host} can be reached from other machines", advice)


def without_chat_model(settings: Settings) -> list[Finding]:
    """Search settings that need a chat model, if none is configured."""
    if settings.chat.provider != "none" or DataFolder(settings.data).local_model() is not None:
        return []
    retrieval, found = settings.retrieval, list[Finding]()
    for field, asked, effect in (
        ("self_query", retrieval.self_query == "model", "rules read the filters of a query"),
        ("query_variations", retrieval.query_variations > 0, "no variations of a query are searched"),
    ):
        if asked:
            name, value = retrieval.name_of(field), getattr(retrieval, field)
            text = f"{name} is {value!r}, and no chat model is configured: {effect}"
            found.append(Finding("settings", "note", text, f"Set CITEWELL_CHAT_PROVIDER, or remove {name}."))
    return found


def _local_models(settings: Settings) -> list[Finding]:
    """Local model servers that respond, or the state of the chosen one; only with one owner and no configured chat model."""
    if refusal_in(settings) is not None:
        return []
    servers = find_local_servers((settings.server.port,))
    chosen = DataFolder(settings.data).local_model()
    if chosen is None:
        return [_local_model(server) for server in servers]
    name = f"{chosen.server} with {chosen.model}"
    if any(one.name == chosen.server and chosen.model in one.models for one in servers):
        return [Finding("local model", "ok", f"{name} is chosen to write answers, and responds on this machine")]
    advice = "Start it, or stop using it in Settings. Citewell starts without it; answers are then extracted."
    return [Finding("local model", "note", f"{name} is chosen to write answers, but does not respond", advice)]


def _local_model(server: LocalServer) -> Finding:
    model = server.models[0]
    more = f" and {len(server.models) - 1} more" if len(server.models) > 1 else ""
    advice = (
        f"To let it write answers, choose it in Settings, or set CITEWELL_CHAT_PROVIDER=openai, CITEWELL_CHAT_BASE_URL={server.base_url},"
        f" CITEWELL_CHAT_MODEL={model} and CITEWELL_OPENAI_API_KEY=local, and restart Citewell."
    )
    return Finding("local model", "note", f"{server.name} with {model}{more} answers on this machine", advice)


def _sandbox() -> list[Finding]:
    report = sandbox.capabilities()
    missing = [f"{c.name}: {c.detail}" for c in report if not c.enforced]
    enforced = ", ".join(c.name for c in report if c.enforced)
    found = [Finding("parsers", "ok", f"sandboxed: {enforced}")]
    return found + [Finding("parsers", "note", f"not enforced here: {text}") for text in missing]


def _optional(package: str, purpose: str, advice: str) -> Finding:
    if importlib.util.find_spec(package) is None:
        return Finding(package, "note", f"not installed: no {purpose}", advice)
    return Finding(package, "ok", purpose)
