from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.agent.tables.picture.moments import moments


@pytest.mark.parametrize(
    "in_order",
    [
        ["Q4 2024", "Q1 2025", "Q2 2025"],
        ["2024-Q4", "2025-Q1"],
        ["FY23", "FY24", "FY25"],
        ["Dec 2023", "January 2024", "Feb 2024"],
        ["2023-11", "2024-02"],
        ["2023-11-30", "2024-02-01 00:00:00"],
        ["1999", "2000", "2001"],
        ["Jan", "Feb", "Sept", "Dec"],
        ["H1 2024", "H2 2024"],
    ],
)
def test_times_have_an_order(in_order: list[str]) -> None:
    found = moments(in_order)
    assert found is not None
    assert found == sorted(found)
    assert len(set(found)) == len(found)


@pytest.mark.parametrize(
    "labels",
    [["Accra", "Tema"], ["Q1 2025", "Total"], ["2024", "Q1 2024"], ["May be", "June"], [], ["12", "13"], ["Q1 Q2"]],
)
def test_other_names_have_none(labels: list[str]) -> None:
    assert moments(labels) is None


@pytest.mark.full
@given(st.lists(st.text(max_size=60), max_size=5))
def test_any_text_is_read(labels: list[str]) -> None:
    found = moments(labels)
    assert found is None or len(found) == len(labels)
