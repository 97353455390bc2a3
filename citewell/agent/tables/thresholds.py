"""Every number that questions about tables are decided by. `docs/algorithms/tables.md` has a picture of the steps that use them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TableThresholds:
    """Thresholds of reading questions against tables and of planning their queries.

    Set by hand, on the questions of `benchmarks/table_questions.py` (every planned query is compared with plain Python: refusing is
    allowed, being wrong is not) and of `tests/agent/tables/`. The distances between words are as small as those questions allow:
    a larger one reads more questions, and takes more words for something they do not mean.

    Reading a question; distances are counted in words between the two:
    question_characters: longer questions are not read against tables, as reading takes time for each table
    value_after_column:  distance up to which a value found in several columns belongs to the column named before it
    value_before_column: the same for a column named after it
    plain_value:         distance up to which a value that is an everyday word or a number ("no", "A", "12") must have its column's name
    number_after_column: distance up to which the number of a comparison or an equality belongs to the column named before it
    number_before_column: the same for a column named after it ("over 30 days overdue")
    label_words:         words from which a value alone makes a question one about the rows of that value
    first_year, last_year: numbers of four digits within these are years

    Choosing tables:
    tables:              tables that one question is read against, those it names most of first
    small_table:         rows up to which a table is considered though the question names nothing of it
    distinct_values:     different texts of a column up to which its values are looked for in questions
    cached_tables:       table versions whose values are remembered

    Weighing readings (`cells.py` to `choice.py`):
    held_rows:           rows up to which a table's cells are held, so that its questions can be weighed
    weighed_characters:  longer questions are not weighed
    weighed_tables:      tables for which readings of one question are weighed
    confidence:          probability from which the likeliest answer is given. From 0.55 / 0.6 / 0.65 / 0.7 / 0.75 on, of the questions on tables
                         that the weights were not fitted to 30 / 26 / 22 / 18 / 13 % are answered rightly and 8.7 / 6.1 / 4.6 / 2.8 / 2.2 % wrongly
    alike:               share of a column's cells that must hold a number, a date or a year for the column to be one of these
    stem, ending:        letters from which a word is another's beginning (win, winner), and how many more the other may have
    selections:          ways of taking words for conditions that are tried, those that account for most words first
    linked_places, linked_columns: places of a question where cells are looked at, and columns for each

    Results:
    spare_rows:          rows asked for beyond the "top n", to see ties at its end
    cited_rows:          rows of a result with a passage and a citation of their own
    listed_rows:         row numbers kept for each group of a result
    listed_values:       values of a condition that an answer lists; more are counted

    Total rows, which would be counted twice:
    equal:               relative difference up to which a cell equals the sum of those above it
    least_rows:          rows from which the last one may be a total
    unnamed_columns:     columns that must all be such sums where no cell calls the row a total
    """

    question_characters: int = 1_000
    value_after_column: int = 3
    value_before_column: int = 1
    plain_value: int = 1
    number_after_column: int = 2
    number_before_column: int = 1
    label_words: int = 2
    first_year: int = 1900
    last_year: int = 2100

    tables: int = 50
    small_table: int = 500
    distinct_values: int = 5_000
    cached_tables: int = 200

    held_rows: int = 1_000
    weighed_characters: int = 300
    weighed_tables: int = 8
    confidence: float = 0.7
    alike: float = 0.8
    stem: int = 3
    ending: int = 4
    selections: int = 40
    linked_places: int = 7
    linked_columns: int = 3

    spare_rows: int = 20
    cited_rows: int = 10
    listed_rows: int = 50
    listed_values: int = 6

    equal: float = 1e-6
    least_rows: int = 3
    unnamed_columns: int = 2


THRESHOLDS = TableThresholds()

READING_WEIGHTS: Mapping[str, float] = {
    "counts one": -1.52, "operator left": -1.3, "no number": -1.15, "all rows": -1.13, "counts numbers": -1.1, "only measure": -0.89,
    "beside some": -0.87, "compared, unnamed": -0.78, "number left": -0.78, "extreme": -0.71, "implied": -0.69, "small part of cell": -0.69,
    "column left": -0.65, "pair, left": -0.62, "several conditions": -0.62, "sum, left": -0.58, "count, left": -0.56, "distinct": -0.56,
    "asked anywhere": -0.55, "yes or no": -0.55, "cell left": -0.54, "rival column": -0.54, "edge, left": -0.53, "ranks one": -0.52,
    "avg, left": -0.48, "exceeds, left": -0.47, "most rows, left": -0.46, "far": -0.44, "part of name": -0.44, "tie": -0.42,
    "several": -0.36, "rows, left": -0.31, "by time": -0.29, "all rows of a noun": -0.27, "avg": -0.23, "rows": -0.22, "noun": -0.21,
    "part of cell": -0.2, "sum": -0.18, "pair": -0.15, "adjective": -0.12, "exceeds": -0.09, "extreme, left": -0.06, "verb left": 0.07,
    "asked row": 0.08, "pair, all explained": 0.15, "cell": 0.17, "edge, all explained": 0.18, "column named": 0.2, "most rows": 0.21,
    "count, all explained": 0.26, "count": 0.29, "asked time": 0.34, "extreme, all explained": 0.42, "negated": 0.59,
    "beside, all explained": 0.6, "edge": 0.64, "difference": 0.72, "compared": 0.78, "difference, left": 0.79, "several for one": 0.79,
    "sum, all explained": 0.82, "asked who": 1.54, "reading": 1.61,
}  # fmt: skip
"""Log-odds of what a reading of a question takes for granted, beside the reading that means nothing of the table (0).

Fitted to 962 questions over 111 web tables (WikiTableQuestions), with a ridge of 2; `docs/algorithms/tables.md`
says what each name means, and what the model does to tables it was not fitted to.
"""
