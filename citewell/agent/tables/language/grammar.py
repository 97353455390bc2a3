"""The grammar of questions about a table: selections of rows by what the question names, and forms of questions over each."""

from __future__ import annotations

from collections.abc import Iterator

from citewell.agent.tables.language.asked import asked_columns
from citewell.agent.tables.language.evidence import QuestionEvidence
from citewell.agent.tables.language.figure_forms import FigureForm
from citewell.agent.tables.language.interpretation import Interpretation
from citewell.agent.tables.language.pair_forms import PairForm
from citewell.agent.tables.language.row_forms import RowForm
from citewell.agent.tables.language.selection import selections


def interpretations(evidence: QuestionEvidence) -> Iterator[Interpretation]:
    """Every typed query that the question may mean, in no order; the same answer may be reached in several ways."""
    asked = asked_columns(evidence)
    for selection in selections(evidence, (*evidence.values, *evidence.comparisons)):
        for form in (RowForm, FigureForm, PairForm):
            yield from form(evidence, selection, asked).all()
