"""Chooses a resource's chunker by its type, its project's settings, and the embedder's limit."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from citewell.chunk.config import ChunkConfig, Strategy
from citewell.chunk.fitting import SEPARATOR
from citewell.chunk.strategies import SentenceEmbedder
from citewell.errors import InvalidInput
from citewell.ports import Embedder, EmbedderWrapper, FloatMatrix
from citewell.settings import ChunkingSettings
from citewell.types import Category, JsonObject, Resource
from citewell.types.chunking import measured_in_characters

_MAX_TABLE_TOKENS = 512
_CHARACTERS_PER_TOKEN = 2
"""A low estimate of characters per token; only scripts without spaces have fewer."""

MAX_TITLE_CHARACTERS = 120
_WORD = re.compile(r"\w+")
_A_WORD = re.compile(r"[^\W\d_]{2}")
_BETWEEN_WORDS = re.compile(r"_+|%20|(?<=[^\W\d_])[-.](?=[^\W\d_])")


def server_chunking(settings: ChunkingSettings) -> ChunkConfig:
    """The server's chunking configuration, for projects without their own."""
    return ChunkConfig(strategy=Strategy(settings.strategy), size=settings.size, overlap=settings.overlap)


def config_of(default: ChunkConfig, resource: Resource, project: JsonObject, embedder: Embedder) -> ChunkConfig:
    """The settings for one resource: rows for data, else its own, else its project's, else the server's."""
    own = resource.options.chunking
    config = with_settings(default, {"chunking": own} if own else project)
    if resource.detected_category == Category.DATA:
        config = replace(config, strategy=Strategy.ROWS, size=None, overlap=None)
    return fitted(config, embedder)


def fitted(config: ChunkConfig, embedder: Embedder) -> ChunkConfig:
    """The settings adapted to an embedder's limit. If it reads far more than a passage, the limit is lowered so that a table kept in one
    chunk is still a passage, and chunks of the configured size fit with their headings. Larger chunks stay whole on request if the
    embedder reads long texts in windows; by default a chunk is one window.
    """
    used = max(_MAX_TABLE_TOKENS, 2 * config.effective_size)
    if _asks_for_more(config, embedder.max_tokens) and reads_windows(embedder):
        return replace(config, max_tokens=used)
    return replace(config, max_tokens=min(embedder.max_tokens, used))


def reads_windows(embedder: Embedder) -> bool:
    """Whether the embedder, or one it wraps, reads texts of any length."""
    layer: Embedder = embedder
    while isinstance(layer, EmbedderWrapper):
        if layer.reads_windows:
            return True
        layer = layer.inner
    return False


def _asks_for_more(config: ChunkConfig, max_tokens: int) -> bool:
    """Whether chunks of the configured size, or the default size of `tokens`, are longer than the embedder reads."""
    if config.size is None and config.strategy is not Strategy.TOKENS:
        return False
    size = config.effective_size
    return (size // _CHARACTERS_PER_TOKEN if measured_in_characters(config.strategy) else size) > max_tokens


def with_settings(default: ChunkConfig, project: JsonObject) -> ChunkConfig:
    """`default` with a project's `{"chunking": {"strategy", "size", "overlap"}}` applied. Raises `InvalidInput` for invalid values.

    A project that changes the strategy gets that strategy's sizes, unless it sets them too.
    """
    chosen = project.get("chunking")
    if not chosen:
        return default
    if not isinstance(chosen, Mapping) or not chosen.keys() <= {"strategy", "size", "overlap"}:
        raise InvalidInput("`chunking` takes `strategy`, `size` and `overlap`.")
    try:
        strategy = Strategy(chosen.get("strategy") or default.strategy)
        base = default if strategy is default.strategy else ChunkConfig(strategy=strategy)
        size, overlap = (_number(chosen, name, getattr(base, name)) for name in ("size", "overlap"))
        return replace(default, strategy=strategy, size=size, overlap=overlap)
    except ValueError as error:
        raise InvalidInput(f"This chunking is not valid: {error}") from error


def sentence_embedder(embedder: Embedder, loop: asyncio.AbstractEventLoop) -> SentenceEmbedder:
    """The embedder, for a chunker that runs in its own thread."""

    def embed(texts: Sequence[str]) -> FloatMatrix:
        return asyncio.run_coroutine_threadsafe(embedder.embed(texts), loop).result()

    return embed


def _number(chosen: Mapping[str, Any], name: str, default: int | None) -> int | None:
    value = chosen.get(name, default)
    if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
        raise ValueError(f"{name} must be a whole number.")
    return value


def chunk_title(filename: str, title: object) -> str:
    """The names before the heading path of a file's chunks: its own in words and, where that is plausible, its title.

    One of them is left out where the other says it too, and either where it has no word, as numbers that scanners and archives give.
    """
    stem, _, _ = filename.rpartition(".")
    name = " ".join(_BETWEEN_WORDS.sub(" ", stem or filename).split()) or filename
    own = title.strip() if isinstance(title, str) and 3 < len(title.strip()) <= MAX_TITLE_CHARACTERS else ""
    of_name, of_title = _words(name), _words(own)
    if not own or not _A_WORD.search(own) or of_title <= of_name:
        return name if not own or _A_WORD.search(name) else own
    return own if of_name <= of_title or not _A_WORD.search(name) else f"{name}{SEPARATOR}{own}"


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))
