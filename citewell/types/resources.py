"""The life of an uploaded file: its states and where it can stop."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """States of a resource, in order. PARTIAL is readable and listed, but not searchable in full."""

    UPLOADED = "uploaded"
    EXTRACTING = "extracting"
    EXTRACTED = "extracted"
    STORED = "stored"
    FAILED = "failed"
    INDEXING = "indexing"
    INDEXED = "indexed"
    ANALYZED = "analyzed"
    DESCRIBED = "described"
    PARTIAL = "partial"


class ErrorStage(StrEnum):
    """The stage a resource stopped at."""

    EXTRACTION = "extraction"
    INDEXING = "indexing"


TERMINAL = frozenset(
    {Status.STORED, Status.FAILED, Status.INDEXED, Status.ANALYZED, Status.DESCRIBED, Status.PARTIAL}
)
FULLY_PROCESSED = frozenset({Status.INDEXED, Status.ANALYZED, Status.DESCRIBED})
