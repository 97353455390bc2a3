"""Hugging Face models that fastembed runs locally: downloaded once into the data folder, or read from your folder."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

from fastembed import TextEmbedding
from fastembed.common import model_management
from fastembed.rerank.cross_encoder import TextCrossEncoder

from citewell.errors import ConfigurationError, ProviderUnavailable
from citewell.settings import FastembedEmbedding, HubSettings
from citewell.text.spelling import nearest

MODELS_FOLDER = "models"
"""Downloaded models, inside the data folder."""
USUAL_EMBEDDER = "BAAI/bge-small-en-v1.5"
USUAL_RERANKER = "Xenova/ms-marco-MiniLM-L-6-v2"
_PROCESSORS = ["CPUExecutionProvider"]
_HUB_SECONDS = 5.0
# On its own, fastembed retries for 39 seconds before reporting a missing connection.
_ATTEMPTS, _PAUSE_SECONDS = 3, 1.0

Opened = TypeVar("Opened")

# fastembed logs models not downloaded yet as errors; real failures are raised as our own errors.
model_management.logger.disable("fastembed")  # pyright: ignore[reportPrivateImportUsage]


def chosen(settings: HubSettings) -> dict[str, Any]:
    """fastembed's description of the configured or default model. Raises `ConfigurationError` for an unknown model."""
    kind, usual = _kind_of(settings)
    known = {str(one["model"]): one for one in kind.list_supported_models()}
    wanted = settings.model or usual
    name = next((one for one in known if one.lower() == wanted.lower()), None)
    if name is None:
        near = nearest(wanted, list(known))
        raise ConfigurationError(
            f"{settings.name_of('model')} is {wanted!r}, which fastembed does not support."
            + (f" Did you mean {near!r}?" if near else f" The default is {usual!r}.")
        )
    return known[name]


def awaited(settings: HubSettings) -> str | None:
    """What the first start will download, as a sentence; None if the model is present.

    Raises `ProviderUnavailable` if the hub cannot provide it.
    """
    model = chosen(settings)
    name, cache = model["model"], str(settings.data / MODELS_FOLDER)
    if settings.path is not None or _is_here(_kind_of(settings)[0], name, cache):
        return None
    try:
        _ask_for(model)
    except Exception as error:  # huggingface_hub, its HTTP library and the operating system raise different errors
        raise ProviderUnavailable(_what_to_do(settings, name, cache, said(error))) from error
    return f"The first start downloads {name} ({model['size_in_GB']:g} GB) from huggingface.co into {cache}."


def _ask_for(model: dict[str, Any]) -> None:
    """Ask the hub for the model's description; raises the hub's error if it is missing or the hub is unreachable."""
    model_management.model_info(model["sources"]["hf"] or model["model"], timeout=_HUB_SECONDS)  # pyright: ignore[reportPrivateImportUsage]


def _await_connection(model: dict[str, Any]) -> None:
    """As `_ask_for`, with retries: a machine that has just started may have no network yet."""
    for attempts_left in reversed(range(_ATTEMPTS)):
        try:
            _ask_for(model)
        except Exception:  # huggingface_hub, its HTTP library and the operating system raise different errors
            if not attempts_left:
                raise
            time.sleep(_PAUSE_SECONDS)
        else:
            return


def _kind_of(settings: HubSettings) -> tuple[type[TextEmbedding] | type[TextCrossEncoder], str]:
    if isinstance(settings, FastembedEmbedding):
        return TextEmbedding, USUAL_EMBEDDER
    return TextCrossEncoder, USUAL_RERANKER


def _is_here(kind: type[TextEmbedding] | type[TextCrossEncoder], name: str, cache: str) -> bool:
    try:
        kind(name, cache_dir=cache, local_files_only=True, lazy_load=True)
    except (ValueError, OSError):  # missing or incomplete
        return False
    return True


def opened(kind: Callable[..., Opened], settings: HubSettings, name: str) -> Opened:
    """Open fastembed's model, downloading it if missing.

    Raises `ConfigurationError` if it is damaged or unreachable.
    """
    cache = str(settings.data / MODELS_FOLDER)
    options: dict[str, Any] = {"cache_dir": cache, "providers": _PROCESSORS}
    try:
        if settings.path is not None:
            return kind(name, specific_model_path=str(settings.path), **options)
        try:
            return kind(name, local_files_only=True, **options)
        except (ValueError, OSError):  # missing or incomplete
            _await_connection(chosen(settings))
            return kind(name, **options)
    except Exception as error:  # every way of downloading and reading raises different errors
        raise ConfigurationError(_what_to_do(settings, name, cache, said(error))) from error


def untruncated(tokenizer: Any) -> str:
    """The definition of a model's tokenizer without truncation and padding."""
    copy = type(tokenizer).from_str(tokenizer.to_str())
    copy.no_truncation()
    copy.no_padding()
    return copy.to_str()


def said(error: Exception) -> str:
    """An error's message on one line, shortened."""
    return " ".join(str(error).split())[:200].rstrip(". ") or type(error).__name__


def _what_to_do(settings: HubSettings, name: str, cache: str, words: str) -> str:
    if settings.path is not None:
        return (
            f"The model {name} cannot be read from {settings.path}: {words}. "
            f"Put its ONNX file, tokenizer.json and the accompanying JSON files there, or remove {settings.name_of('path')}."
        )
    return (
        f"The model {name} could not be downloaded from huggingface.co into {cache}: {words}. "
        f"Start once with a connection, copy its files to this machine and set {settings.name_of('path')} to their folder, or "
        f"choose another {settings.name_of('provider')}; 'builtin' needs no download."
    )
