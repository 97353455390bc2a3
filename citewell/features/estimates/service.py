"""Estimates the paid model usage of an upload, from the owner's files of the same kinds."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from citewell.ingest.estimating import Bounds, Density, PaidModels, PlannedFile, UploadEstimate, estimate_upload
from citewell.storage.files.densities import DensityRepository, MeasuredFile

PaidModelsSource: TypeAlias = Callable[[], Awaitable[PaidModels]]


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateService:
    """Estimates uploads without calling any provider. paid: the models that currently cost money."""

    densities: DensityRepository
    paid: PaidModelsSource

    async def estimate(
        self,
        owner_id: str,
        files: Sequence[PlannedFile],
        multimodal: bool,
        *,
        projects: Sequence[str] | None = None,
    ) -> UploadEstimate:
        """The estimate for these files. Without paid models, nothing is measured. projects: measure only files in these; None for all."""
        models = await self.paid()
        if not (models.embeddings or models.vision or models.chat):
            return UploadEstimate(files=len(files), measured=0, parts=())
        kinds = sorted({file.extension for file in files})
        measured = densities_of(await self.densities.measure(owner_id, kinds, projects))
        return estimate_upload(files, measured, models, multimodal=multimodal)


def densities_of(files: Iterable[MeasuredFile]) -> dict[str, Density]:
    """The density of each kind: the 20th and 80th percentiles of tokens per byte, and of pictures per file."""
    kinds: dict[str, list[MeasuredFile]] = {}
    for file in files:
        kinds.setdefault(file.extension, []).append(file)
    return {
        kind: Density(
            tokens=_bounds([file.tokens / file.size for file in found]),
            pictures=_bounds([file.pictures for file in found]),
            files=len(found),
        )
        for kind, found in kinds.items()
    }


def _bounds(values: Sequence[float]) -> Bounds:
    ordered = sorted(values)
    last = len(ordered) - 1
    return Bounds(ordered[last // 5], ordered[last - last // 5])
