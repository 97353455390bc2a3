"""How points pull a query vector: towards them, at length 1, and nowhere when there is nothing to pull."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.ports import FloatMatrix
from citewell.ports.points import index_point, pulled
from citewell.text.sparse import sparse_query
from citewell.types import Chunk, ChunkType, FileFacts, Locator

_QUERY = (1.0, 0.0, 0.0)
_VECTORS = {"a": np.asarray((0, 1, 0), dtype=np.float32), "c": np.asarray((-1, 0, 0), dtype=np.float32)}


def _unit(*values: float) -> FloatMatrix:
    vector = np.asarray(values, dtype=np.float32)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def test_the_query_moves_by_the_weight_and_keeps_its_length() -> None:
    assert pulled(_QUERY, [("a", 0.5)], _VECTORS) == pytest.approx(_unit(1, 0.5, 0), abs=1e-6)


def test_points_that_are_not_there_pull_nothing() -> None:
    assert pulled(_QUERY, [("unknown", 1.0)], _VECTORS) == pytest.approx(_QUERY)
    assert pulled(_QUERY, [], _VECTORS) == pytest.approx(_QUERY)


def test_opposite_vectors_do_not_divide_by_nothing() -> None:
    assert pulled(_QUERY, [("c", 1.0)], _VECTORS) == pytest.approx(_QUERY)


@given(st.integers(0, 10_000), st.floats(0, 2))
def test_the_result_is_a_unit_vector_no_further_from_what_pulls(seed: int, weight: float) -> None:
    random = np.random.default_rng(seed)
    query, towards = _unit(*random.normal(size=8)), _unit(*random.normal(size=8))
    moved = pulled(query.tolist(), [("a", weight)], {"a": towards})
    assert float(np.linalg.norm(moved)) == pytest.approx(1.0, abs=1e-5)
    assert float(moved @ towards) >= float(query @ towards) - 1e-5


@pytest.mark.parametrize(
    ("place", "rows"),
    [
        (Locator(sheet="S", row=4), 4),
        (Locator(sheet="S", row=4, row_end=4), 4),
        (Locator(sheet="S", row=4, row_end=7), [4, 5, 6, 7]),
        (Locator(sheet="S", row=4, row_end=90_000), 4),
    ],
)
def test_a_table_that_is_one_chunk_is_found_by_any_of_its_rows(place: Locator, rows: object) -> None:
    chunk = Chunk(
        id="c", owner_id="o", resource_id="r", version=1, ordinal=0, type=ChunkType.TABLE, text="| a |", locator=place
    )
    assert index_point(chunk, None, FileFacts(filename="a.csv")).payload["row"] == rows


def test_figures_in_a_table_do_not_weaken_its_words_and_are_found_themselves() -> None:
    def terms(text: str) -> dict[int, float]:
        place = Locator(page=1)
        chunk = Chunk(
            id="c", owner_id="o", resource_id="r", version=1, ordinal=0, type=ChunkType.TABLE, text=text, locator=place
        )
        sparse = index_point(chunk, None, FileFacts(filename="a.pdf", language="en")).sparse
        assert sparse is not None
        return dict(zip(sparse.indices, sparse.values, strict=True))

    few = terms("| Line | 2022 |\n| --- | --- |\n| Inventories | 5 |")
    many = terms("| Line | 2022 |\n| --- | --- |\n| Inventories | 5 | 1,127 | 11,002 | (591) | 345 | 372 |")
    inventories = next(iter(sparse_query("inventories", "en").indices))
    assert many[inventories] == pytest.approx(few[inventories])
    assert set(many) & set(sparse_query("11,002", "en").indices)
