"""The reference store passes the suite that every store must pass."""

from collections.abc import Awaitable, Callable

import pytest

from citewell.adapters.index.memory import MemoryIndex
from citewell.testing.vector_index import FilterConformance, SparseConformance, VectorIndexConformance


class TestMemoryIndex(VectorIndexConformance, SparseConformance, FilterConformance):
    @pytest.fixture
    def open_index(self) -> Callable[[], Awaitable[MemoryIndex]]:
        async def open_index() -> MemoryIndex:
            return MemoryIndex()

        return open_index
