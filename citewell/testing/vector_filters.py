"""The filter tests of the `VectorIndex` suite."""

from __future__ import annotations

import numpy as np
import pytest

from citewell.ports import Capability, VectorIndex
from citewell.ports.points import METADATA, metadata_field
from citewell.testing.points import Opened, about, ids_of, make_point, near, point_id
from citewell.types import (
    AllOf,
    AnyOf,
    ChunkType,
    Condition,
    Expression,
    Filter,
    MetadataKind,
    Negation,
    Operator,
)


@pytest.mark.asyncio
class FilterConformance(Opened):
    """For indexes that declare `FILTERS`: conditions on the fields of `citewell.ports.points.PAYLOAD_FIELDS`."""

    @pytest.mark.parametrize(
        ("condition", "expected"),
        [
            (Condition("page", Operator.EQ, 3), [3]),
            (Condition("page", Operator.IN, (1, 4, 99)), [1, 4]),
            (Condition("page", Operator.GTE, 8), [8, 9]),
            (Condition("page", Operator.LTE, 1), [0, 1]),
            (Condition("filename", Operator.EQ, "File 2.PDF"), [2]),
            (Condition("filename", Operator.IN, ("file 2.pdf", "FILE 5.pdf", "none")), [2, 5]),
            (Condition("row", Operator.EQ, 3), []),
        ],
    )
    async def test_a_condition_admits_exactly_its_points(
        self, index: VectorIndex, condition: Condition, expected: list[int]
    ) -> None:
        await index.upsert([make_point(n, page=n, filename=f"file {n}.pdf") for n in range(10)])
        scope = Filter(owner_id="ann", conditions=(condition,))
        found = await index.search(near(0, filter=scope, limit=20))
        assert sorted(ids_of(found)) == sorted(point_id(n) for n in expected)
        assert await index.count(scope) == len(expected)

    async def test_a_chunk_over_two_pages_is_on_both(self, index: VectorIndex) -> None:
        await index.upsert([make_point(1, page=[2, 3]), make_point(2, page=[4])])
        for page in (2, 3):
            scope = Filter(owner_id="ann", conditions=(Condition("page", Operator.EQ, page),))
            assert ids_of(await index.search(near(2, filter=scope))) == [point_id(1)]

    async def test_conditions_and_types_and_scope_all_hold(self, index: VectorIndex) -> None:
        await index.upsert(
            [make_point(n, resource=f"r{n % 2}", type="row" if n % 3 else "table", row=n) for n in range(24)]
        )
        scope = Filter(
            owner_id="ann",
            resource_ids=("r1",),
            types=(ChunkType.ROW,),
            conditions=(Condition("row", Operator.GTE, 6), Condition("row", Operator.LTE, 18)),
        )
        expected = [point_id(n) for n in range(6, 19) if n % 2 and n % 3]
        assert sorted(ids_of(await index.search(near(0, filter=scope, limit=50)))) == sorted(expected)
        await index.delete(scope)
        assert await index.count() == 24 - len(expected)

    @pytest.mark.parametrize(
        ("condition", "expected"),
        [
            (Condition("page", Operator.GT, 8), [9]),
            (Condition("page", Operator.LT, 1), [0]),
            (Condition("filename", Operator.CONTAINS, "E 2.P"), [2]),
            (Condition("filename", Operator.PREFIX, "File 7"), [7]),
            (Condition("filename", Operator.PREFIX, "ile"), []),
            (Condition("uploaded_at", Operator.GTE, 7.5), [8, 9]),
            (Condition("uploaded_at", Operator.EQ, 7.0), [7]),
            (Condition("uploaded_at", Operator.IN, (7.0, 3.0, 0.5)), [3, 7]),
            (Condition("slide", Operator.EXISTS, True), [1, 3, 5, 7, 9]),
            (Condition("slide", Operator.EXISTS, False), [0, 2, 4, 6, 8]),
            (Negation(Condition("page", Operator.LTE, 7)), [8, 9]),
            (Negation(Condition("slide", Operator.LTE, 7)), [0, 2, 4, 6, 8, 9]),
            (AnyOf(()), []),
            (AllOf(()), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
            (
                AnyOf(
                    (
                        AllOf((Condition("page", Operator.GTE, 2), Negation(Condition("page", Operator.GT, 3)))),
                        Condition("page", Operator.EQ, 9),
                    )
                ),
                [2, 3, 9],
            ),
        ],
    )
    async def test_orders_parts_of_texts_and_groups(
        self, index: VectorIndex, condition: Expression, expected: list[int]
    ) -> None:
        await index.upsert(
            [
                make_point(n, page=n, filename=f"file {n}.pdf", uploaded_at=float(n), slide=n if n % 2 else None)
                for n in range(10)
            ]
        )
        scope = Filter(owner_id="ann", conditions=(condition,))
        found = await index.search(near(0, filter=scope, limit=20))
        assert sorted(ids_of(found)) == sorted(point_id(n) for n in expected)
        assert await index.count(scope) == len(expected)

    async def test_metadata_has_a_field_per_key_and_type(self, index: VectorIndex) -> None:
        text, number = (
            metadata_field("Kamera ü.1", MetadataKind.TEXT),
            metadata_field("Kamera ü.1", MetadataKind.NUMBER),
        )
        await index.upsert(
            [
                make_point(1, metadata={text: "leica", number: 4.5}),
                make_point(2, metadata={text: ["leica m", "canon"]}),
                make_point(3, owner="bob", metadata={text: "leica"}),
            ]
        )
        path = f"{METADATA}.{text}"
        for condition, expected in (
            (Condition(path, Operator.EQ, "Leica"), [1]),
            (Condition(path, Operator.PREFIX, "leica"), [1, 2]),
            (Condition(path, Operator.CONTAINS, "ano"), [2]),
            (Condition(path, Operator.IN, ("canon", "x")), [2]),
            (Condition(f"{METADATA}.{number}", Operator.GT, 4.4), [1]),
            (Condition(f"{METADATA}.{number}", Operator.EXISTS, False), [2]),
        ):
            found = await index.search(near(1, filter=Filter(owner_id="ann", conditions=(condition,))))
            assert sorted(ids_of(found)) == sorted(point_id(n) for n in expected), condition

    async def test_a_payload_is_set_and_the_rest_of_a_point_stays(self, index: VectorIndex) -> None:
        await index.upsert([make_point(n, resource=f"r{n % 2}", page=n, tag="old", terms=[n]) for n in range(6)])
        await index.upsert([make_point(6, owner="bob", resource="r1", tag="old")])
        before = await index.search(near(1))
        field = metadata_field("a", MetadataKind.TEXT)
        scope = Filter(owner_id="ann", resource_ids=("r1",))
        await index.set_payload(scope, {"tag": ["new", "newer"], "sheet": None, METADATA: {field: "x"}})
        assert await index.search(near(1)) == before
        assert ids_of(await index.search(about(3))) == (
            [point_id(3)] if Capability.SPARSE in index.capabilities else []
        )

        async def having(condition: Expression, owner: str = "ann") -> list[str]:
            scope = Filter(owner_id=owner, conditions=(condition,))
            return sorted(ids_of(await index.search(near(0, filter=scope, limit=20))))

        changed = sorted(point_id(n) for n in (1, 3, 5))
        assert await having(Condition("tag", Operator.EQ, "newer")) == changed
        assert await having(Condition(f"{METADATA}.{field}", Operator.EQ, "x")) == changed
        assert await having(Condition("page", Operator.EXISTS, True)) == sorted(point_id(n) for n in range(6))
        assert await having(Condition("tag", Operator.EQ, "old"), "bob") == [point_id(6)]
        await index.set_payload(scope, {"tag": [], METADATA: {}})
        assert await having(Condition("tag", Operator.EXISTS, False)) == changed
        assert await having(Condition(f"{METADATA}.{field}", Operator.EXISTS, True)) == []

    @pytest.mark.parametrize(("among", "size"), [(1, 4_000), (10, 4_000), (1_000, 10_000)])
    async def test_the_nearest_of_what_a_filter_admits_are_found(
        self, index: VectorIndex, among: int, size: int
    ) -> None:
        points = [make_point(n, metadata={}, row=n % among) for n in range(size)]
        await index.upsert(points)  # all in one call, however many the store accepts at once
        assert await index.count() == size
        scope = Filter(owner_id="ann", conditions=(Condition("row", Operator.EQ, 0),))
        admitted = points[::among]
        matrix = np.asarray([point.dense for point in admitted], dtype=np.float32)
        near_enough = 0
        for n in range(5_000, 5_010):
            cosines = matrix @ np.asarray(make_point(n).dense or (), dtype=np.float32)
            least = np.sort(cosines)[-10:][0] - 1e-3  # half precision cannot distinguish more
            good = {admitted[i].id for i in np.flatnonzero(cosines >= least)}
            near_enough += len(good & set(ids_of(await index.search(near(n, filter=scope)))))
        assert near_enough >= 9.9 * min(10, len(admitted))

    @pytest.mark.parametrize("value", ['"} or {"', "a' OR 1=1 --", "*", "[page]", "\\", "ﷺ" * 50])
    async def test_hostile_values_are_only_values(self, index: VectorIndex, value: str) -> None:
        await index.upsert([make_point(1, filename="a.pdf"), make_point(2, filename=value.casefold())])
        scope = Filter(owner_id="ann", conditions=(Condition("filename", Operator.EQ, value),))
        assert ids_of(await index.search(near(1, filter=scope))) == [point_id(2)]
