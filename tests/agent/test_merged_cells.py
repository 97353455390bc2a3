"""Merged cells stand in each row and column that they cover."""

from __future__ import annotations

import pytest

from citewell.agent.citations.merged_cells import MAX_SPAN, markdown_of


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        (
            '<table><tr><th rowspan="2">Item</th><th colspan="2">2023</th></tr><tr><th>Q1</th><th>Q2</th></tr>'
            "<tr><td>Sales &amp; fees</td><td>5|6</td><td></td></tr></table>",
            "| Item | 2023 | 2023 |\n| --- | --- | --- |\n| Item | Q1 | Q2 |\n| Sales & fees | 5\\|6 |  |",
        ),
        ("<table></table>", ""),
        ("<tr><td>a<td>b<tr><td colspan=x>c", "| a | b |\n| --- | --- |\n| c |  |"),
    ],
)
def test_a_table_is_markdown(html: str, markdown: str) -> None:
    assert markdown_of(html) == markdown


def test_a_huge_span_is_bounded() -> None:
    assert len(markdown_of('<tr><td rowspan="999999999">a</td></tr>').splitlines()) == MAX_SPAN + 1
