"""What an upload would take of models that cost, from what the owner's files of the same kinds hold."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from citewell.ingest.estimating import Bounds, Density, PaidModels, PlannedFile, UploadEstimate, estimate_upload
from citewell.storage.files.densities import DensityRepository, MeasuredFile

PaidModelsSource: TypeAlias = Callable[[], Awaitable[PaidModels]]


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateService:
    """Estimates uploads; nobody is asked, and nothing is paid. `paid` says which models cost now."""

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
        """What these files would take. Without a model that costs, nothing is measured. projects: ids of those whose files are measured; None for all."""
        models = await self.paid()
        if not (models.embeddings or models.vision or models.chat):
            return UploadEstimate(files=len(files), measured=0, parts=())
        kinds = sorted({file.extension for file in files})
        measured = densities_of(await self.densities.measure(owner_id, kinds, projects))
        return estimate_upload(files, measured, models, multimodal=multimodal)


def densities_of(files: Iterable[MeasuredFile]) -> dict[str, Density]:
    """The density of each kind: of tokens per byte, and of pictures per file, the 20th and the 80th percentile."""
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
