"""Every number that questions about tables are decided by. `docs/algorithms/tables.md` has a picture of the steps that use them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TableThresholds:
    """Thresholds of reading questions against tables and of planning their queries.

    Reading a question:
    question_characters: longer questions are not read against tables, as reading takes time for each table
    first_year, last_year: numbers of four digits within these are years
    years_of_a_month:    years between the first and the last date of a column up to which `in March` is the March of each

    Choosing tables:
    tables:              tables that one question is read against, those it names most of first
    small_table:         rows up to which a table is considered though the question names nothing of it
    distinct_values:     different texts of a column up to which its values are looked for in questions
    cached_tables:       table versions whose values are remembered

    held_rows:           rows up to which a table's cells are held: what its texts are, and which rows are totals, is told from all of them
    read_tables:         tables that a model reads a question beside. The one that is meant is among the nearest 4 / 6 of 30 for 91 / 94 % of
                         English questions on `training/tables`, and for 77 / 84 % of those in other languages
    shared_word:         cosine that a word of the question counts for that one table has; by words alone 86 / 89 % and 50 / 55 %

    How likely an answer is right:
    meant_sure, parts_sure, explained_sure, sure: weights of a logistic regression that gives the probability that the likeliest reading of a table is
                         right: of the model's log-odds that the table is meant (at most `meant_most` either way), of the logarithm of the
                         reading's likelihood, of the share of the question's words that it explains, and the constant. Fitted on questions on held-out tables in a
                         library of 108 files
    meant:               probability from which the reading is answered; `meant_alone` where nothing but tables is asked
    certain:             probability from which no passages are looked at beside it

    What columns hold:
    alike:               share of a column's cells that must hold a number, a date or a year for the column to be one of these

    Results:
    spare_rows:          rows asked for beyond the "top n", to see ties at its end
    cited_rows:          rows of a result with a passage and a citation of their own
    listed_rows:         row numbers kept for each group of a result
    listed_values:       values of a condition that an answer lists; more are counted

    Total rows, which would be counted twice:
    equal:               relative difference up to which a cell equals the sum of those above it
    least_rows:          rows from which the last one may be a total
    unnamed_columns:     columns that must all be such sums where no cell calls the row a total
    summed_rows:         figures above 0 from which it is no chance that a further one is their sum
    """

    question_characters: int = 1_000
    first_year: int = 1900
    last_year: int = 2100
    years_of_a_month: int = 20

    tables: int = 50
    small_table: int = 500
    distinct_values: int = 5_000
    cached_tables: int = 200

    held_rows: int = 1_000
    read_tables: int = 5
    shared_word: float = 0.1
    meant_sure: float = 0.55
    parts_sure: float = 0.89
    explained_sure: float = 2.17
    sure: float = -1.53
    meant_most: float = 5.0
    meant: float = 0.42
    meant_alone: float = 0.35
    certain: float = 0.85
    alike: float = 0.8

    spare_rows: int = 20
    cited_rows: int = 10
    listed_rows: int = 50
    listed_values: int = 6

    equal: float = 1e-6
    least_rows: int = 3
    unnamed_columns: int = 2
    summed_rows: int = 3


THRESHOLDS = TableThresholds()
