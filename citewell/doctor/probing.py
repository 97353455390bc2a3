"""Sends each configured provider a minimal request, to find out whether it is configured, accepts the key, can be reached, and works."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from sqlalchemy import make_url
from sqlalchemy.exc import SQLAlchemyError

from citewell.adapters import registry
from citewell.adapters.gate import Gate, MinuteLimits, Ticket
from citewell.agent.model.known import KnownModel
from citewell.errors import (
    CitewellError,
    ConfigurationError,
    ProviderAuthError,
    ProviderModelGone,
    ProviderQuotaSpent,
    ProviderRateLimited,
    ProviderUnavailable,
)
from citewell.features.health.findings import Finding, Level
from citewell.ports import ChatMessage, ChatModelWrapper, RemoteEmbedder, close_connections
from citewell.settings import (
    BuiltinRerank,
    EmbeddingSettings,
    FastembedEmbedding,
    FastembedRerank,
    MailSettings,
    NoChat,
    NoVision,
    RemoteEmbedding,
    RerankSettings,
    Settings,
    VisionSettings,
)
from citewell.storage.database import Database
from citewell.storage.spending.provider_calls import ProviderCallRepository
from citewell.system.folder import DataFolder
from citewell.types.chat_models import ChatProfile

SECONDS = 8.0
OWN_SECONDS = 30.0
_ANSWER_TOKENS = 16
_LOADING = 503
_TEXT = "ready?"
_NO_MAIL = "none: create password reset links with `citewell accounts reset-password`"
# The first matching class decides; with the last, the error's message gives the reason.
_STATES: tuple[tuple[type[CitewellError], Level, str], ...] = (
    (ConfigurationError, "error", "not configured"),
    (ProviderAuthError, "error", "wrong key"),
    (ProviderQuotaSpent, "error", "no credit"),
    (ProviderModelGone, "error", "no such model"),
    (ProviderRateLimited, "note", "works, but is busy"),
    (CitewellError, "error", "refused"),
)


class _Clock:
    """Measures how long a provider takes to answer, excluding the time to import its package and load a model from disk."""

    def __init__(self) -> None:
        self.milliseconds = 0

    @asynccontextmanager
    async def running(self, seconds: float | None = SECONDS) -> AsyncGenerator[None]:
        """Time a request. Raises `TimeoutError` after `seconds`; None, for models on this machine, means no limit."""
        started = time.perf_counter()
        async with asyncio.timeout(seconds):
            yield
        self.milliseconds = round((time.perf_counter() - started) * 1000)


Probe = Callable[[_Clock], Awaitable[str]]
"""Sends a provider a request; returns the model's name, or raises the error in its answer."""


async def probe_providers(settings: Settings) -> list[Finding]:
    """One finding for each part that has a provider. Vendors are asked at the same time, each for at most `SECONDS`."""
    chat, vision, mail = settings.chat, settings.vision, settings.mail
    parts = [
        _found("embeddings", settings.embedding.provider, _embedder(settings)),
        _found("rerank", settings.rerank.provider, _reranker(settings.rerank)),
        _found("chat", chat.provider, _chat(settings), "none: answers are extracted"),
        _found("vision", vision.provider, _vision(vision), "none: images are kept and read by OCR"),
        _found("blobs", settings.blobs.provider, lambda _: _built(lambda: registry.build_blob_store(settings.blobs))),
    ]
    if settings.accounts.is_on:
        parts.append(_found("mail", urlsplit(mail.smtp_url or "").hostname or "none", _mail(mail), _NO_MAIL))
    return list(await asyncio.gather(*parts))


class _NotFetchedError(Exception):
    """The model is not on this machine yet; the message says what the first start does."""


async def _found(part: str, name: str, probe: Probe, without: str = "none") -> Finding:
    if name == "none":
        return Finding(part, "ok", without)
    clock = _Clock()
    try:
        model = await probe(clock)
    except TimeoutError:
        return Finding(part, "error", f"{name}: unreachable", f"It did not answer within {SECONDS:g} seconds.")
    except _NotFetchedError as waiting:
        return Finding(part, "note", f"{name}: not fetched yet", str(waiting))
    except ProviderUnavailable as error:
        if error.details.get("status") == _LOADING:
            return Finding(part, "note", f"{name}: loading its model, or busy", error.message)
        return Finding(part, "error", f"{name}: unreachable", error.message)
    except CitewellError as error:
        _, level, state = next(entry for entry in _STATES if isinstance(error, entry[0]))
        return Finding(part, level, f"{name}: {state}", error.message)
    return Finding(part, "ok", f"{name}: works ({model}, {clock.milliseconds} ms)" if model else name)


def _embedder(settings: Settings) -> Probe:
    chosen = settings.embedding

    async def probe(clock: _Clock) -> str:
        await _fetched(chosen)
        embedder = await asyncio.to_thread(registry.build_embedder, chosen)
        if isinstance(chosen, FastembedEmbedding):
            async with clock.running(None):
                await embedder.embed([_TEXT], "query")
            return embedder.fingerprint.model
        if not isinstance(chosen, RemoteEmbedding) or not isinstance(embedder, RemoteEmbedder):
            return ""
        try:
            async with clock.running(), _counted(settings, chosen):
                await embedder.embed([_TEXT], "query")
        finally:
            await embedder.close()
        return embedder.fingerprint.model

    return probe


async def _fetched(settings: EmbeddingSettings | RerankSettings) -> None:
    """Raise `_NotFetchedError` if the model is not on this machine: a check must not wait for a download."""
    if isinstance(settings, FastembedEmbedding | FastembedRerank):
        awaited = await asyncio.to_thread(registry.awaited_model, settings)
        if awaited is not None:
            raise _NotFetchedError(awaited)


@asynccontextmanager
async def _counted(settings: Settings, chosen: RemoteEmbedding) -> AsyncGenerator[None]:
    """Count a call toward the limits per minute. Raises `ProviderRateLimited` instead of making it if it would exceed them now."""
    limits = MinuteLimits(requests=chosen.requests_per_minute, tokens=chosen.tokens_per_minute)
    if limits == MinuteLimits() or not await asyncio.to_thread(_has_database, settings):
        yield
        return
    database = Database(settings.sql_url)
    gate = Gate(ledger=ProviderCallRepository(database), provider=chosen.provider, limits=limits, sleep=_not_now)
    try:
        try:
            ticket = await gate.enter(1)
        except (SQLAlchemyError, OSError):  # the server reports problems with its database when it starts
            ticket = Ticket(0.0)
        yield
        await gate.answered(ticket)
    finally:
        await database.close()


def _has_database(settings: Settings) -> bool:
    """Whether a database may exist. Connecting to a missing SQLite file would create it."""
    address = make_url(settings.sql_url)
    return not address.drivername.startswith("sqlite") or Path(address.database or "").exists()


async def _not_now(seconds: float) -> None:
    raise ProviderRateLimited("Not checked: current work uses up its limit of calls per minute.", seconds)


def _mail(settings: MailSettings) -> Probe:
    async def probe(clock: _Clock) -> str:
        mailer = registry.build_mailer(settings)
        if mailer is None:
            return ""
        async with clock.running():
            await mailer.check()
        return settings.sender or ""

    return probe


def _reranker(settings: RerankSettings) -> Probe:
    async def probe(clock: _Clock) -> str:
        await _fetched(settings)
        reranker = await asyncio.to_thread(registry.build_reranker, settings)
        if reranker is None or isinstance(settings, BuiltinRerank):
            return ""
        try:
            async with clock.running(None if settings.is_local else SECONDS):
                await reranker.rerank(_TEXT, [_TEXT], 1)
        finally:
            await close_connections(reranker)
        return reranker.model

    return probe


def _chat(settings: Settings) -> Probe:
    """Your own model answers one request at a time, and may be busy with another for long."""

    async def probe(clock: _Clock) -> str:
        chat = settings.chat
        assert not isinstance(chat, NoChat)
        address = settings.own_chat_address
        limit = SECONDS if address is None else OWN_SECONDS
        model = await asyncio.to_thread(registry.build_chat_model, replace(chat, seconds=limit))
        name = await _asked(model, clock, limit)
        if address is None:
            return name
        assert model is not None
        chosen = None if settings.answers.profile == "auto" else ChatProfile(settings.answers.profile)
        found = await asyncio.to_thread(DataFolder(settings.data).examination, address, name)
        known = KnownModel(chosen=chosen, is_own=True, examination=found)
        words = known.told(model) or "It is examined when Citewell starts."
        return f"{name}, {known.profile(model)} profile: {words.rstrip('.')}"

    return probe


def _vision(settings: VisionSettings) -> Probe:
    """Send text only: that checks the key, address and model, and a picture costs a hundred times as much."""

    async def probe(clock: _Clock) -> str:
        assert not isinstance(settings, NoVision)
        chosen = replace(settings, seconds=SECONDS)
        return await _asked(await asyncio.to_thread(registry.build_vision_model, chosen), clock)

    return probe


async def _asked(model: object, clock: _Clock, seconds: float = SECONDS) -> str:
    assert isinstance(model, ChatModelWrapper)
    question = [ChatMessage(role="user", content="Answer with the word: ready")]
    try:
        async with clock.running(seconds), aclosing(model.stream(question, max_tokens=_ANSWER_TOKENS)) as answer:
            async for _ in answer:
                pass
    finally:
        await model.close()
    return model.model


async def _built(build: Callable[[], object]) -> str:
    await asyncio.to_thread(build)
    return ""
