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
    years_of_a_month:    years between the first and the last date of a column up to which `in March` is the March of each

    Choosing tables:
    tables:              tables that one question is read against, those it names most of first
    small_table:         rows up to which a table is considered though the question names nothing of it
    distinct_values:     different texts of a column up to which its values are looked for in questions
    cached_tables:       table versions whose values are remembered

    Weighing readings (`cells.py` to `choice.py`):
    held_rows:           rows up to which a table's cells are held, so that its questions can be weighed
    weighed_characters:  longer questions are not weighed
    weighed_tables:      tables for which readings of one question are weighed
    read_tables:         tables that a model reads a question beside. The one that is meant is among the nearest 4 / 6 of 30 for 91 / 94 % of
                         English questions on `training/tables`, and for 77 / 84 % of those in other languages
    shared_word:         cosine that a word of the question counts for that one table has; by words alone 86 / 89 % and 50 / 55 %
    confidence:          probability from which the likeliest answer is given. From 0.54 / 0.66 / 0.76 / 0.82 on, of questions on tables that the
                         weights were not fitted to 45 / 39 / 33 / 29 % are answered rightly and 8 / 5 / 3 / 2 % wrongly
    rows_confidence:     probability from which the likeliest rows are shown whole, where no answer is likely enough
    meant_sure, parts_sure, over_all_sure, sure: weights of a logistic regression that gives the probability that the likeliest reading of a table is
                         right: of the model's log-odds that the table is meant (at most `meant_most` either way), of the logarithm of the
                         reading's likelihood, of its being a figure over all rows, and the constant. Fitted on questions on held-out tables in a
                         library of 108 files
    meant:               probability from which the reading is answered; `meant_alone` where nothing but tables is asked
    certain:             probability from which no passages are looked at beside it
    alike:               share of a column's cells that must hold a number, a date or a year for the column to be one of these
    stem, ending:        letters from which a word is another's beginning (win, winner), and how many more the other may have
    selections:          ways of taking words for conditions that are tried, those that account for most words first
    asked_columns:       columns of a table that may be asked for; of more than these, those that are named and those that name rows or times first
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
    summed_rows:         figures above 0 from which it is no chance that a further one is their sum
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
    years_of_a_month: int = 20

    tables: int = 50
    small_table: int = 500
    distinct_values: int = 5_000
    cached_tables: int = 200

    held_rows: int = 1_000
    weighed_characters: int = 300
    weighed_tables: int = 8
    read_tables: int = 5
    shared_word: float = 0.1
    confidence: float = 0.74
    rows_confidence: float = 0.73
    meant_sure: float = 0.62
    parts_sure: float = 0.95
    over_all_sure: float = -1.14
    sure: float = -0.8
    meant_most: float = 5.0
    meant: float = 0.42
    meant_alone: float = 0.35
    certain: float = 0.85
    alike: float = 0.8
    stem: int = 3
    ending: int = 4
    selections: int = 30
    asked_columns: int = 8
    linked_places: int = 7
    linked_columns: int = 3

    spare_rows: int = 20
    cited_rows: int = 10
    listed_rows: int = 50
    listed_values: int = 6

    equal: float = 1e-6
    least_rows: int = 3
    unnamed_columns: int = 2
    summed_rows: int = 3


THRESHOLDS = TableThresholds()
