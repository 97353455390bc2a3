"""A folder of small real tables, for every test of data questions."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agent.tables.sheets import Sheets


@pytest.fixture
def sheets(tmp_path: Path) -> Sheets:
    return Sheets(tmp_path)
