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
    titled_rows:         rows of the longest table that is given whole, where the question is its title
    fiscal_amounts:      amounts in sentences that must tell which fiscal year a period is, where no date beside its number does
    fiscal_tables:       tables with years alone in their headers that must tell so, where no amount does
    fiscal_lead:         times as many that must say so as say otherwise
    fiscal_sentences:    sentences with an amount of a fiscal year that are compared with the tables of a file
    fiscal_texts:        texts of a file that are searched for fiscal years
    repeated_figures:    figures that two tables must share, so that one tells the other's scale or years
    telling_digits:      digits of a figure that two tables hardly share by chance
    """

    question_characters: int = 600
    label_share: float = 0.75
    same_value: float = 0.01
    whole_files: int = 4
    tables: int = 1_000
    cells: int = 20_000
    cached_files: int = 16
    periods: int = 6
    titled_rows: int = 12
    fiscal_amounts: int = 2
    fiscal_tables: int = 2
    fiscal_lead: int = 3
    fiscal_sentences: int = 100
    fiscal_texts: int = 500
    repeated_figures: int = 2
    telling_digits: int = 5


THRESHOLDS = LookupThresholds()
