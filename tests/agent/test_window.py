"""What a chat model is given of passages."""

from __future__ import annotations

from dataclasses import replace

from citewell.agent.interface import Source
from citewell.agent.model.window import source_blocks
from tests.agent.fakes import WordTokenizer, hit


def test_a_table_with_merged_cells_is_given_as_markdown_that_repeats_them() -> None:
    found = hit("| Costs | |\n| --- | --- |\n| 1 | 2 |")
    html = '<table><tr><th colspan="2">Costs</th></tr><tr><td>1</td><td>2</td></tr></table>'
    merged = replace(found, chunk=replace(found.chunk, metadata={"html": html}))
    (plain,) = source_blocks([Source(1, found)], WordTokenizer(), 500)
    (block,) = source_blocks([Source(1, merged)], WordTokenizer(), 500)
    assert plain.text == found.chunk.text
    assert block.text == "| Costs | Costs |\n| --- | --- |\n| 1 | 2 |"
