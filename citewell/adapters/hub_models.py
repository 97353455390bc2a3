"""Models of Hugging Face's hub that fastembed runs on this machine: chosen by name, fetched once into the data folder, or read from a folder of yours."""

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
"""Inside the data folder: what was fetched."""
USUAL_EMBEDDER = "BAAI/bge-small-en-v1.5"
USUAL_RERANKER = "Xenova/ms-marco-MiniLM-L-6-v2"
_PROCESSORS = ["CPUExecutionProvider"]
_HUB_SECONDS = 5.0
# fastembed itself tries for 39 seconds before it says that there is no connection.
_ATTEMPTS, _PAUSE_SECONDS = 3, 1.0

Opened = TypeVar("Opened")

# What it logs of a model that is not here yet is no error, and what fails is said in ours.
model_management.logger.disable("fastembed")  # pyright: ignore[reportPrivateImportUsage]


def chosen(settings: HubSettings) -> dict[str, Any]:
    """What fastembed says of the model that is set, else of the usual one; `ConfigurationError` for one that it does not have."""
    kind, usual = _kind_of(settings)
    known = {str(one["model"]): one for one in kind.list_supported_models()}
    wanted = settings.model or usual
    name = next((one for one in known if one.lower() == wanted.lower()), None)
    if name is None:
        near = nearest(wanted, list(known))
        raise ConfigurationError(
            f"{settings.name_of('model')} is {wanted!r}, which fastembed does not have."
            + (f" Did you mean {near!r}?" if near else f" Its usual one is {usual!r}.")
        )
    return known[name]


def awaited(settings: HubSettings) -> str | None:
    """What the first start fetches, as a sentence; None where the model is here. `ProviderUnavailable` when the hub does not have it for us now."""
    model = chosen(settings)
    name, cache = model["model"], str(settings.data / MODELS_FOLDER)
    if settings.path is not None or _is_here(_kind_of(settings)[0], name, cache):
        return None
    try:
        _ask_for(model)
    except Exception as error:  # huggingface_hub, its HTTP library and the operating system each raise their own
        raise ProviderUnavailable(_what_to_do(settings, name, cache, said(error))) from error
    return f"The first start fetches {name} ({model['size_in_GB']:g} GB) from huggingface.co into {cache}."


def _ask_for(model: dict[str, Any]) -> None:
    """Ask the hub for the model's description; raises what it says where it does not have it, or cannot be asked."""
    model_management.model_info(model["sources"]["hf"] or model["model"], timeout=_HUB_SECONDS)  # pyright: ignore[reportPrivateImportUsage]


def _await_connection(model: dict[str, Any]) -> None:
    """As `_ask_for`, some times: a machine that has just started may have its network a moment later."""
    for attempts_left in reversed(range(_ATTEMPTS)):
        try:
            _ask_for(model)
        except Exception:  # huggingface_hub, its HTTP library and the operating system each raise their own
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
    except (ValueError, OSError):  # not there, or not all of it
        return False
    return True


def opened(kind: Callable[..., Opened], settings: HubSettings, name: str) -> Opened:
    """fastembed's `kind` of this name, fetched unless it is there; `ConfigurationError` for one that is damaged or out of reach."""
    cache = str(settings.data / MODELS_FOLDER)
    options: dict[str, Any] = {"cache_dir": cache, "providers": _PROCESSORS}
    try:
        if settings.path is not None:
            return kind(name, specific_model_path=str(settings.path), **options)
        try:
            return kind(name, local_files_only=True, **options)
        except (ValueError, OSError):  # not there, or not all of it
            _await_connection(chosen(settings))
            return kind(name, **options)
    except Exception as error:  # each way to fetch and to read, and to fail at it, has errors of its own
        raise ConfigurationError(_what_to_do(settings, name, cache, said(error))) from error


def untruncated(tokenizer: Any) -> str:
    """The definition of a model's tokenizer without cutting and padding."""
    copy = type(tokenizer).from_str(tokenizer.to_str())
    copy.no_truncation()
    copy.no_padding()
    return copy.to_str()


def said(error: Exception) -> str:
    """An error's own words on one line, not too many."""
    return " ".join(str(error).split())[:200].rstrip(". ") or type(error).__name__


def _what_to_do(settings: HubSettings, name: str, cache: str, words: str) -> str:
    if settings.path is not None:
        return (
            f"The model {name} cannot be read from {settings.path}: {words}. "
            f"Put its ONNX file, tokenizer.json and the JSON files beside it there, or remove {settings.name_of('path')}."
        )
    return (
        f"The model {name} could not be fetched from huggingface.co into {cache}: {words}. "
        f"Start once with a connection, or copy its files to this machine and set {settings.name_of('path')} to their folder, or "
        f"choose another {settings.name_of('provider')}; 'builtin' needs no download."
    )
