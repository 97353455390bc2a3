"""Indexes as HTTP sees them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import AliasPath, Field

from citewell.features.indexes.comparing import IndexComparison, IndexHits
from citewell.features.indexes.service import MAX_QUERIES
from citewell.features.schemas import RequestBody, Schema, Timestamp, rounded
from citewell.indexes.estimating import BuildEstimate
from citewell.settings import EmbeddingProvider, VectorStore
from citewell.storage.vectors.indexes import BuildMode, BuildOptions

MAX_PAUSE = 60.0
_SHOWN_PASSAGES = 3
_SHOWN_CHARACTERS = 300


class IndexIn(RequestBody):
    """The model and store of a new index; omitted fields are as configured."""

    provider: EmbeddingProvider | None = Field(default=None, description="the model's provider; default: as configured")
    model: str | None = Field(default=None, max_length=200)
    dimensions: Annotated[int, Field(ge=1, le=65_536)] | None = None
    store: VectorStore | None = Field(default=None, description="with the configured address and keys")
    mode: BuildMode = Field(
        default=BuildMode.DUAL,
        description="dual: beside the active index. gradual: the same, but each file is searched in the new index once it has moved. "
        "fresh: the active index is deleted first, which needs `confirm`",
    )
    switch: bool | None = Field(
        default=None, description="switch to it as soon as it is complete; default: only for gradual builds"
    )
    confirm: bool = Field(default=False, description="delete the active index, in mode `fresh`")
    pause_seconds: float = Field(default=0.0, ge=0, le=MAX_PAUSE, description="between batches")
    max_dollars: float | None = Field(
        default=None, ge=0, description="US dollars; the build pauses before it costs more"
    )

    @property
    def asked(self) -> dict[str, Any]:
        """The model and store, as named in `citewell.composition.recorded`."""
        model = {} if self.provider is None else self.model_dump(include={"provider", "model", "dimensions"})
        return model | ({} if self.store is None else {"store": {"provider": self.store}})

    @property
    def options(self) -> BuildOptions:
        """The build's options."""
        return BuildOptions(
            mode=self.mode,
            switch=self.mode is BuildMode.GRADUAL if self.switch is None else self.switch,
            pause_seconds=self.pause_seconds,
            max_dollars=self.max_dollars,
        )


class BuildChange(RequestBody):
    """Changes to a build: paused or running, its pace, and its cost limit. `paused: false` starts an offered one."""

    paused: bool | None = None
    pause_seconds: float | None = Field(default=None, ge=0, le=MAX_PAUSE)
    max_dollars: float | None = Field(default=None, ge=0)
    switch: bool | None = None


class IndexOut(Schema):
    """An index: its model, store, state, progress (in chunks) and build options."""

    id: str
    fingerprint: str
    store: str
    place: str = Field(description="the store's location, without secrets; empty for the data folder")
    state: str = Field(description="offered, building, ready, filling, active or retired")
    progress: int
    total: int
    created_at: Timestamp
    activated_at: Timestamp | None
    settings: dict[str, Any]
    mode: str = Field(validation_alias=AliasPath("build", "mode"), description="fresh, dual or gradual")
    switch: bool = Field(validation_alias=AliasPath("build", "switch"))
    paused: bool
    pause_seconds: float = Field(validation_alias=AliasPath("build", "pause_seconds"))
    max_dollars: float | None = Field(validation_alias=AliasPath("build", "max_dollars"))
    spent: Annotated[float, rounded(6)] = Field(description="the approximate cost of the build so far, in US dollars")
    problem: str = Field(description="what the build waits for")
    is_behind: bool = Field(description="it missed writes because it could not be opened")


class EstimateOut(Schema):
    """The estimated cost of building an index: texts not yet embedded, tokens, calls, minutes, and US dollars."""

    fingerprint: str
    texts: int
    tokens: int
    calls: int
    minutes: float
    megabytes: float = Field(description="what its vectors take on disk, at least")
    dollars: float | None = Field(description="null if CITEWELL_PRICES has no price for the model")
    dollars_left: float | None = Field(description="what CITEWELL_MAX_SPEND leaves this month; null without a limit")

    @staticmethod
    def of(estimate: BuildEstimate) -> EstimateOut:
        """The public form of an estimate."""
        plan, dollars, left = estimate.plan, estimate.dollars, estimate.left
        return EstimateOut(
            fingerprint=estimate.fingerprint,
            texts=plan.texts,
            tokens=plan.tokens,
            calls=plan.calls,
            minutes=round(estimate.seconds / 60, 2),
            megabytes=round(estimate.megabytes, 1),
            dollars=None if dollars is None else round(dollars, 6),
            dollars_left=None if left is None else round(left, 6),
        )


class IndexList(Schema):
    """All indexes, oldest first."""

    indexes: list[IndexOut]


class CompareIn(RequestBody):
    """Questions to run in the active index and in this one; default: the latest questions, with the passages their answers cited."""

    queries: list[str] | None = Field(default=None, min_length=1, max_length=MAX_QUERIES)
    top_k: int = Field(default=10, ge=1, le=100)


class QueryComparisonOut(Schema):
    """Chunk ids from both, best first, and the share of the active index's hits that the other also has."""

    query: str
    active: list[str] = Field(validation_alias=AliasPath("ours", "ids"))
    candidate: list[str] = Field(validation_alias=AliasPath("theirs", "ids"))
    overlap: float
    change: Annotated[float, rounded(4)] = Field(
        description="0 for the same list, 1 for entirely different ones; the top counts more"
    )
    cited: list[str] = Field(description="passages cited by the answer that still exist")


class ComparedPassage(Schema):
    """A passage found by one of the two indexes."""

    chunk_id: str
    filename: str
    label: str
    text: str
    is_cited: bool


class ChangedQuery(Schema):
    """A question whose passages change, with the best of both indexes."""

    query: str
    active: list[ComparedPassage]
    candidate: list[ComparedPassage]


class SideOut(Schema):
    """One of the two indexes over all questions."""

    ndcg: float | None = Field(description="nDCG of the cited passages; null without any")
    milliseconds: float = Field(description="per search, on average")
    dollars: float | None = Field(description="for embedding 1,000 such questions; null if the price is unknown")


class CompareOut(Schema):
    """Per question and on average. Answers cite what the active index found, which favours it."""

    queries: list[QueryComparisonOut]
    mean_overlap: float
    judged: int = Field(description="questions with cited passages")
    active: SideOut
    candidate: SideOut
    changed: list[ChangedQuery] = Field(description="the twenty questions whose passages change most")

    @staticmethod
    def of(compared: IndexComparison) -> CompareOut:
        """The public form of a comparison."""
        return CompareOut(
            queries=[QueryComparisonOut.model_validate(one) for one in compared.queries],
            mean_overlap=compared.overlap,
            judged=compared.judged,
            active=SideOut.model_validate(compared.ours),
            candidate=SideOut.model_validate(compared.theirs),
            changed=[
                ChangedQuery(
                    query=one.query, active=_passages(one.ours, one.cited), candidate=_passages(one.theirs, one.cited)
                )
                for one in compared.changed
            ],
        )


def _passages(found: IndexHits, cited: Sequence[str]) -> list[ComparedPassage]:
    return [
        ComparedPassage(
            chunk_id=hit.chunk.id,
            filename=hit.filename,
            label=hit.chunk.locator.label(hit.filename),
            text=hit.chunk.text[:_SHOWN_CHARACTERS],
            is_cited=hit.chunk.id in cited,
        )
        for hit in found.hits[:_SHOWN_PASSAGES]
    ]
