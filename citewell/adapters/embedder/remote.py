"""What the embedders of all vendors share: what is known of a model, and vectors made of an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from citewell.adapters.http import malformed
from citewell.errors import ConfigurationError
from citewell.ports import CallLimits, Fingerprint, FloatMatrix
from citewell.settings import RemoteEmbedding

MAX_UNKNOWN_TOKENS = 512
"""What is sent of a text to a model of which nothing is known; most models read at least this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """What a vendor documents of a model.

    dimensions:    the length of its vectors when nothing is asked for
    choices:       other lengths that can be asked for; `any_below` when every shorter one can
    max_tokens:    tokens read of one text
    call_tokens:   tokens that one call may hold
    """

    dimensions: int
    max_tokens: int
    call_tokens: int
    choices: frozenset[int] = frozenset()
    any_below: bool = False

    def takes(self, dimensions: int) -> bool:
        """Whether vectors of this length can be had."""
        return (
            dimensions == self.dimensions
            or dimensions in self.choices
            or (self.any_below and dimensions < self.dimensions)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenModel:
    """A model with its vectors' length, as the settings choose them; `asked_dimensions` is sent, None leaves it to the model."""

    name: str
    fingerprint: Fingerprint
    max_tokens: int
    limits: CallLimits
    asked_dimensions: int | None


def choose(
    settings: RemoteEmbedding, known: Mapping[str, ModelFacts], usual: str | None, limits: CallLimits
) -> ChosenModel:
    """The model that the settings name, else the usual one. `ConfigurationError` for a length that it does not have, or an unknown one.

    limits: the vendor's for one call, where nothing more exact is known of the model
    """
    name = settings.model or usual
    if name is None:
        raise ConfigurationError(
            f"{settings.name_of('base_url')} is set, but no model is. Set {settings.name_of('model')} to a model of that server."
        )
    facts, wanted = known.get(name), settings.dimensions
    if facts is None and wanted is None:
        raise ConfigurationError(
            f"Nothing is known of the embedding model {name!r}. Set {settings.name_of('dimensions')} to the length of its vectors."
        )
    if facts is not None and wanted is not None and not facts.takes(wanted):
        others = f" (or {', '.join(map(str, sorted(facts.choices)))})" if facts.choices else ""
        raise ConfigurationError(
            f"{settings.name_of('dimensions')} is {wanted}, but vectors of {name} have {facts.dimensions}{others} dimensions."
        )
    return ChosenModel(
        name=name,
        fingerprint=Fingerprint(settings.provider, name, wanted or (facts.dimensions if facts else 0)),
        max_tokens=facts.max_tokens if facts else MAX_UNKNOWN_TOKENS,
        limits=CallLimits(texts=limits.texts, tokens=facts.call_tokens if facts else limits.tokens),
        asked_dimensions=wanted if facts is not None and wanted != facts.dimensions else None,
    )


def sendable(text: str) -> str:
    """A text as providers take it: halves of surrogate pairs, which have no UTF-8, are question marks, and nothing is a full stop."""
    sound = text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
    return sound if sound.strip() else "."


def ordered(numbered: Sequence[tuple[object, object]], count: int) -> list[object]:
    """What an answer says of each text, by the text's number; `ProviderUnavailable` unless every number from 0 occurs once."""
    by_number = dict(numbered)
    if len(numbered) != count or set(by_number) != set(range(count)):
        raise malformed(f"it has {len(numbered)} vectors for {count} texts, or their numbers are wrong")
    return [by_number[number] for number in range(count)]


def unit_rows(rows: Sequence[object], dimensions: int) -> FloatMatrix:
    """Vectors as the port wants them: float32, of length 1. `ProviderUnavailable` for what is no vector of that many dimensions."""
    if not rows:
        return np.zeros((0, dimensions), np.float32)
    try:
        matrix = np.asarray(rows, dtype=np.float32)
    except (TypeError, ValueError):
        raise malformed("its vectors are not lists of numbers of one length") from None
    if matrix.ndim != 2 or matrix.shape[1] != dimensions:
        raise ConfigurationError(
            f"The embedding model's vectors have {matrix.shape[-1]} dimensions, not {dimensions}. Set CITEWELL_EMBEDDING_DIMENSIONS to it."
        )
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    if not np.isfinite(matrix).all() or not lengths.all():
        raise malformed("a vector is zero or not finite")
    return matrix / lengths
