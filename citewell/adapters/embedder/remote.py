"""Shared by the vendors' embedders: facts about models, and conversion of responses to vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from citewell.adapters.http import malformed
from citewell.errors import ConfigurationError
from citewell.ports import CallLimits, Fingerprint, FloatMatrix
from citewell.settings import RemoteEmbedding

MAX_UNKNOWN_TOKENS = 512
"""Tokens sent per text to an unknown model; most models read at least this many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """Documented properties of a vendor's model.

    dimensions:    default length of its vectors
    choices:       other lengths that can be requested; `any_below` if every shorter one can
    max_tokens:    maximum tokens per text
    call_tokens:   maximum tokens per call
    """

    dimensions: int
    max_tokens: int
    call_tokens: int
    choices: frozenset[int] = frozenset()
    any_below: bool = False

    def takes(self, dimensions: int) -> bool:
        """Whether the model offers vectors of this length."""
        return (
            dimensions == self.dimensions
            or dimensions in self.choices
            or (self.any_below and dimensions < self.dimensions)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenModel:
    """The configured model and vector length; `asked_dimensions` is sent to the vendor, None is the default."""

    name: str
    fingerprint: Fingerprint
    max_tokens: int
    limits: CallLimits
    asked_dimensions: int | None


def choose(
    settings: RemoteEmbedding, known: Mapping[str, ModelFacts], usual: str | None, limits: CallLimits
) -> ChosenModel:
    """The configured model, else the default one.

    Raises `ConfigurationError` for an unsupported or unknown vector length.
    limits: the vendor's limits per call, if none are known for the model
    """
    name = settings.model or usual
    if name is None:
        raise ConfigurationError(
            f"{settings.name_of('base_url')} is set, but no model. Set {settings.name_of('model')} to a model on that server."
        )
    facts, wanted = known.get(name), settings.dimensions
    if facts is None and wanted is None:
        raise ConfigurationError(
            f"The embedding model {name!r} is unknown. Set {settings.name_of('dimensions')} to the length of its vectors."
        )
    if facts is not None and wanted is not None and not facts.takes(wanted):
        others = f" (or {', '.join(map(str, sorted(facts.choices)))})" if facts.choices else ""
        raise ConfigurationError(
            f"{settings.name_of('dimensions')} is {wanted}, but the vectors of {name} have {facts.dimensions}{others} dimensions."
        )
    return ChosenModel(
        name=name,
        fingerprint=Fingerprint(settings.provider, name, wanted or (facts.dimensions if facts else 0)),
        max_tokens=facts.max_tokens if facts else MAX_UNKNOWN_TOKENS,
        limits=CallLimits(texts=limits.texts, tokens=facts.call_tokens if facts else limits.tokens),
        asked_dimensions=wanted if facts is not None and wanted != facts.dimensions else None,
    )


def sendable(text: str) -> str:
    """The text in a form providers accept: lone surrogates become question marks, a blank text becomes a period."""
    sound = text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
    return sound if sound.strip() else "."


def ordered(numbered: Sequence[tuple[object, object]], count: int) -> list[object]:
    """Response items in the order of the texts.

    Raises `ProviderUnavailable` unless every index from 0 occurs exactly once.
    """
    by_number = dict(numbered)
    if len(numbered) != count or set(by_number) != set(range(count)):
        raise malformed(f"it has {len(numbered)} vectors for {count} texts, or their indexes are wrong")
    return [by_number[number] for number in range(count)]


def unit_rows(rows: Sequence[object], dimensions: int) -> FloatMatrix:
    """The vectors as float32 unit rows.

    Raises `ProviderUnavailable` for anything but vectors of this many dimensions.
    """
    if not rows:
        return np.zeros((0, dimensions), np.float32)
    try:
        matrix = np.asarray(rows, dtype=np.float32)
    except (TypeError, ValueError):
        raise malformed("its vectors are not lists of numbers of equal length") from None
    if matrix.ndim != 2 or matrix.shape[1] != dimensions:
        raise ConfigurationError(
            f"The embedding model's vectors have {matrix.shape[-1]} dimensions, not {dimensions}. Set CITEWELL_EMBEDDING_DIMENSIONS accordingly."
        )
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    if not np.isfinite(matrix).all() or not lengths.all():
        raise malformed("a vector is zero or not finite")
    return matrix / lengths
