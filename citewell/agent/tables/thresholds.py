"""Every number that questions about tables are decided by. `docs/algorithms/tables.md` has a picture of the steps that use them."""

from __future__ import annotations

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

    Results:
    spare_rows:          rows asked for beyond the "top n", to see ties at its end
    cited_rows:          rows of a result with a passage and a citation of their own
    listed_rows:         row numbers kept for each group of a result

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

    spare_rows: int = 20
    cited_rows: int = 10
    listed_rows: int = 50

    equal: float = 1e-6
    least_rows: int = 3
    unnamed_columns: int = 2


THRESHOLDS = TableThresholds()
