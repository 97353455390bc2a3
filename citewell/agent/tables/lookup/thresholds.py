"""Every number that lookups in tables on pages are decided by; `docs/algorithms/tables.md` says what each does."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class LookupThresholds:
    """Thresholds of looking up lines. Set by hand on statements of annual reports; refusing is allowed, being wrong is not.

    question_characters: longer questions are not read against tables
    label_share:         share of the words of a row's label, or of a column's header, that the question must have
    same_value:          relative difference up to which two tables give the same figure: they round differently
    whole_files:         files whose tables are all read for one question
    tables:              tables of one file that are read, in reading order
    cells:               cells of the largest table that is read
    cached_files:        versions of files whose tables are remembered
    periods:             periods that one answer names
    """

    question_characters: int = 600
    label_share: float = 0.75
    same_value: float = 0.01
    whole_files: int = 4
    tables: int = 1_000
    cells: int = 20_000
    cached_files: int = 16
    periods: int = 6


THRESHOLDS = LookupThresholds()
