"""Estimates the paid model usage of files before their upload, from names and sizes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from citewell.indexes.estimating import BuildEstimate, EmbeddingRates
from citewell.ingest.summaries.written import SECTION_CHARACTERS
from citewell.ingest.vision import MAX_PICTURES
from citewell.ports import CallLimits, EmbeddingPlan
from citewell.ports.metering import CHARACTERS_PER_TOKEN, PICTURE_TOKENS

Purpose: TypeAlias = Literal["embeddings", "descriptions", "summaries"]

MIN_MEASURED = 5
"""How many files of a kind an owner needs before their figures replace the general ones."""

_CHUNK_TOKENS = 180  # of an average chunk, if the owner has no files of a kind
_ROW_TOKENS = 60  # of a chunk that is a row of a table
_DESCRIPTION_TOKENS = 200  # written by a vision model (at most 150 words are requested)
_SUMMARY_TOKENS = 250
_PROMPT_TOKENS = 150
_SECONDS_PER_CALL = 4.0  # of a vision or chat model, with four calls at once
_AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """A file about to be uploaded; `extension` is lower case without its dot, `size` in bytes."""

    extension: str
    size: int


@dataclass(frozen=True, slots=True)
class Bounds:
    """A lower and an upper estimate. A file's content is unknown until it is read."""

    low: float
    high: float

    def __add__(self, other: Bounds) -> Bounds:
        return Bounds(self.low + other.low, self.high + other.high)


@dataclass(frozen=True, slots=True, kw_only=True)
class Density:
    """The typical content of files of one kind.

    tokens:   per byte of the file, of the chunks that are embedded
    pictures: per file
    files:    how many of the owner's files were measured; 0 for the general figures
    """

    tokens: Bounds
    pictures: Bounds = Bounds(0, 0)
    files: int = 0


_TEXT = Density(tokens=Bounds(0.22, 0.6))
_MARKUP = Density(tokens=Bounds(0.01, 0.25), pictures=Bounds(0, 2))
_ROWS = Density(tokens=Bounds(0.4, 1.6))
_PACKED = Density(tokens=Bounds(0.04, 3.0))
_OFFICE = Density(tokens=Bounds(0.0005, 0.03), pictures=Bounds(0, 4))
_PICTURE = Density(tokens=Bounds(0.0, 0.007), pictures=Bounds(1, 1))
_BOOK = Density(tokens=Bounds(0.1, 0.4), pictures=Bounds(0, 8))
_UNKNOWN = Density(tokens=Bounds(0.0, 0.6), pictures=Bounds(0, 8))
# About the 20th and the 80th percentile of each kind in a library of 170 public files: see docs/providers.md.
_GENERAL: Mapping[Density, str] = {
    _TEXT: "txt md rst log tex json py js ts java c cpp go rs sql srt vtt",
    _MARKUP: "html htm xml eml mbox msg rtf",
    _ROWS: "csv tsv jsonl ndjson",
    _PACKED: "xlsx xls xlsm ods parquet db sqlite",
    _OFFICE: "pdf docx doc odt pptx ppt odp",
    _PICTURE: "png jpg jpeg gif bmp webp tif tiff heic heif avif svg",
    _BOOK: "epub ipynb",
}
_BY_EXTENSION = {extension: density for density, names in _GENERAL.items() for extension in names.split()}


@dataclass(frozen=True, slots=True, kw_only=True)
class PaidEmbedding:
    """An embedding model whose index receives uploads, and its price."""

    provider: str
    model: str
    fingerprint: str
    limits: CallLimits
    rates: EmbeddingRates


@dataclass(frozen=True, slots=True, kw_only=True)
class PaidModel:
    """A paid chat or vision model; `prices` in US dollars per token in and out, None if unknown."""

    provider: str
    model: str
    prices: tuple[float, float] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PaidModels:
    """The models that an upload may be charged for.

    summary_tokens:  the most tokens of one file sent to the chat model
    max_dense_rows:  the most rows of one file that are embedded
    max_spend, left: US dollars per month, and how many are left; None without a limit
    """

    embeddings: tuple[PaidEmbedding, ...] = ()
    vision: PaidModel | None = None
    chat: PaidModel | None = None
    summary_tokens: int = 0
    max_dense_rows: int = 20_000
    max_spend: float | None = None
    left: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimatedPart:
    """The estimated usage of one model; `dollars` is None if the settings have no price for it."""

    purpose: Purpose
    provider: str
    model: str
    tokens: Bounds
    calls: Bounds
    minutes: Bounds
    dollars: Bounds | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadEstimate:
    """The estimated usage of paid models for an upload; without parts, there is none.

    measured: how many of the files are of kinds for which the owner's own figures are used
    """

    files: int
    measured: int
    parts: tuple[EstimatedPart, ...]
    max_spend: float | None = None
    left: float | None = None

    @property
    def dollars(self) -> Bounds | None:
        """The sum of all parts; None if one has no price."""
        priced = [part.dollars for part in self.parts if part.dollars is not None]
        return _sum(priced) if len(priced) == len(self.parts) else None

    @property
    def minutes(self) -> Bounds:
        """The sum of all parts."""
        return _sum(part.minutes for part in self.parts)

    @property
    def exceeds(self) -> Literal["no", "perhaps", "yes"]:
        """Whether the upper or even the lower estimate exceeds what is left of the month's spending limit."""
        if self.left is None or self.dollars is None or self.dollars.high <= self.left:
            return "no"
        return "yes" if self.dollars.low > self.left else "perhaps"


def estimate_upload(
    files: Sequence[PlannedFile], measured: Mapping[str, Density], models: PaidModels, *, multimodal: bool = False
) -> UploadEstimate:
    """The estimated usage for these files, based on the owner's files of a kind if there are enough.

    multimodal: whether pictures will be described
    """
    known = {name: density for name, density in measured.items() if density.files >= MIN_MEASURED}
    kinds = [known.get(file.extension) or general_density(file.extension) for file in files]
    pairs = list(zip(files, kinds, strict=True))
    tokens = [_tokens(file, density, models.max_dense_rows) for file, density in pairs]
    pictures = _sum(_pictures(file, density) for file, density in pairs)
    parts: list[EstimatedPart] = []
    if multimodal and models.vision is not None:
        pictures = Bounds(pictures.low, min(pictures.high, MAX_PICTURES * len(files)))
        parts.append(_descriptions(models.vision, pictures))
        tokens.append(Bounds(pictures.low * _DESCRIPTION_TOKENS, pictures.high * _DESCRIPTION_TOKENS))
    if models.chat is not None and models.summary_tokens:
        parts.append(_summaries(models.chat, tokens[: len(files)], models.summary_tokens))
    embedded = [_embeddings(one, tokens, len(files)) for one in models.embeddings]
    return UploadEstimate(
        files=len(files),
        measured=sum(density.files > 0 for density in kinds),
        parts=(*embedded, *parts),
        max_spend=models.max_spend,
        left=models.left,
    )


def general_density(extension: str) -> Density:
    """The general figures for a file of this kind."""
    return _BY_EXTENSION.get(extension, _UNKNOWN)


def _pictures(file: PlannedFile, density: Density) -> Bounds:
    """The pictures in a file; a picture file counts as one."""
    return _PICTURE.pictures if general_density(file.extension) is _PICTURE else density.pictures


def _tokens(file: PlannedFile, density: Density, max_dense_rows: int) -> Bounds:
    low, high = file.size * density.tokens.low, file.size * density.tokens.high
    if _BY_EXTENSION.get(file.extension) in (_ROWS, _PACKED):
        most = max_dense_rows * _ROW_TOKENS
        return Bounds(min(low, most), min(high, most))
    return Bounds(low, high)


def _embeddings(model: PaidEmbedding, tokens: Sequence[Bounds], files: int) -> EstimatedPart:
    """The embedding part. A file's texts are sent in separate calls, and its summary after them."""
    total = _sum(tokens)

    def build(count: float, own: int) -> BuildEstimate:
        texts = math.ceil(count / _CHUNK_TOKENS)
        calls = own + max(math.ceil(texts / model.limits.texts), math.ceil(count / model.limits.tokens))
        plan = EmbeddingPlan(texts=texts, tokens=round(count), calls=calls)
        return BuildEstimate(fingerprint=model.fingerprint, plan=plan, rates=model.rates)

    least, most = build(total.low, 0), build(total.high, 2 * files)
    dollars = None if least.dollars is None or most.dollars is None else Bounds(least.dollars, most.dollars)
    return EstimatedPart(
        purpose="embeddings",
        provider=model.provider,
        model=model.model,
        tokens=Bounds(least.plan.tokens, most.plan.tokens),
        calls=Bounds(least.plan.calls, most.plan.calls),
        minutes=Bounds(least.seconds / 60, most.seconds / 60),
        dollars=dollars,
    )


def _descriptions(model: PaidModel, pictures: Bounds) -> EstimatedPart:
    each = PICTURE_TOKENS + _PROMPT_TOKENS
    return _asked(
        "descriptions", model, pictures, Bounds(pictures.low * each, pictures.high * each), _DESCRIPTION_TOKENS
    )


def _summaries(model: PaidModel, tokens: Sequence[Bounds], most: int) -> EstimatedPart:
    """The summary part: section by section, then the whole from its sections, as in `summaries.written`."""

    def calls(count: float) -> int:
        sections = math.ceil(min(count, most) * CHARACTERS_PER_TOKEN / SECTION_CHARACTERS)
        return sections if sections <= 1 else sections + 1

    def sent(counts: Sequence[float]) -> tuple[int, float]:
        asked = sum(map(calls, counts))
        return asked, sum(min(count, most) for count in counts) + asked * (_PROMPT_TOKENS + _SUMMARY_TOKENS)

    (least, low), (greatest, high) = sent([one.low for one in tokens]), sent([one.high for one in tokens])
    return _asked("summaries", model, Bounds(least, greatest), Bounds(low, high), _SUMMARY_TOKENS)


def _asked(purpose: Purpose, model: PaidModel, calls: Bounds, sent: Bounds, written: int) -> EstimatedPart:
    """A part with `calls` calls to a chat or vision model: tokens sent in total, and written per call."""
    dollars = None
    if model.prices is not None:
        into, out = model.prices
        dollars = Bounds(
            sent.low * into + calls.low * written * out,
            sent.high * into + calls.high * written * out,
        )
    return EstimatedPart(
        purpose=purpose,
        provider=model.provider,
        model=model.model,
        tokens=Bounds(sent.low + calls.low * written, sent.high + calls.high * written),
        calls=calls,
        minutes=Bounds(*(n * _SECONDS_PER_CALL / _AT_ONCE / 60 for n in (calls.low, calls.high))),
        dollars=dollars,
    )


def _sum(parts: Iterable[Bounds]) -> Bounds:
    return sum(parts, start=Bounds(0, 0))
