"""Damaged files of every format either give what can be read or fail with a reason of ours, and write nowhere else."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.depth import examples
from tests.extract.documents.reading import read_bytes, read_or_refused
from tests.extract.documents.seeds import damaged, seeds

pytestmark = pytest.mark.full

SEEDS = seeds()
REGRESSIONS = sorted((Path(__file__).parent / "regressions").iterdir())


@pytest.mark.parametrize("name", sorted(SEEDS))
def test_each_seed_is_read_whole(name: str, tmp_path: Path) -> None:
    reading = read_bytes(tmp_path, name, SEEDS[name])
    assert reading.elements
    assert "damaged" not in reading.notes()


@pytest.mark.parametrize("name", sorted(SEEDS))
@given(seed=st.integers(0, 2**32))
@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_damaged_file_is_read_in_part_or_refused_with_a_reason(
    name: str, seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    read_or_refused(tmp_path_factory.mktemp("fuzz"), name, damaged(SEEDS[name], random.Random(seed)))


@pytest.mark.parametrize("path", REGRESSIONS, ids=[path.name for path in REGRESSIONS])
def test_what_fuzzing_once_found_stays_fixed(path: Path, tmp_path: Path) -> None:
    read_or_refused(tmp_path, f"a{path.suffix}", path.read_bytes())
