"""Frozen values that every layer shares: what was read, where it stands, what was found, what was answered."""

from citewell.types.answers import Answer, Citation, Verdict
from citewell.types.chunks import Chunk, ChunkDraft, ChunkType, Piece
from citewell.types.elements import Element, ElementType
from citewell.types.extraction import (
    Category,
    ChildFile,
    Coverage,
    DetectedType,
    ExtractedBlob,
    ExtractionSummary,
    ExtractOptions,
    UnitCoverage,
)
from citewell.types.json import JsonObject, JsonValue
from citewell.types.locators import Box, Locator
from citewell.types.resources import (
    FULLY_PROCESSED,
    TERMINAL,
    ErrorStage,
    Status,
)
from citewell.types.search import (
    Condition,
    Filter,
    Hit,
    Operator,
    Point,
    ScoredId,
    Scores,
    SearchRequest,
    SearchResult,
    SparseVector,
    Trace,
    VectorQuery,
)

__all__ = [
    "FULLY_PROCESSED",
    "TERMINAL",
    "Answer",
    "Box",
    "Category",
    "ChildFile",
    "Chunk",
    "ChunkDraft",
    "ChunkType",
    "Citation",
    "Condition",
    "Coverage",
    "DetectedType",
    "Element",
    "ElementType",
    "ErrorStage",
    "ExtractOptions",
    "ExtractedBlob",
    "ExtractionSummary",
    "Filter",
    "Hit",
    "JsonObject",
    "JsonValue",
    "Locator",
    "Operator",
    "Piece",
    "Point",
    "ScoredId",
    "Scores",
    "SearchRequest",
    "SearchResult",
    "SparseVector",
    "Status",
    "Trace",
    "UnitCoverage",
    "VectorQuery",
    "Verdict",
]
