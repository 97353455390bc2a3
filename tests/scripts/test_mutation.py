"""What is changed, and how changes are counted: a change that was not tried is none, and one without tests was not noticed."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType

import pytest

from tests.scripts.loading import ROOT, load_script

STORAGE = """
async def get(self, owner_id, n):
    query = sa.select(t).where(t.c.id == n, t.c.owner_id == owner_id)
    if n:
        both = sa.and_(t.c.owner_id == owner_id, u.c.owner_id == sa.bindparam("öwner"))
    join = t.join(u, t.c.owner_id == u.c.owner_id)
    mine = row.owner_id == owner_id
    return query
"""


@pytest.fixture(scope="module")
def mutation() -> ModuleType:
    """The script as a module."""
    return load_script("mutation")


def test_each_statement_loses_all_its_owners_at_once_and_joins_stay(mutation: ModuleType) -> None:
    found = dict(mutation.without_owner(STORAGE))
    assert sorted(found) == [3, 5]
    assert found[3] == STORAGE.replace("t.c.id == n, t.c.owner_id == owner_id", "t.c.id == n, sa.true()")
    assert found[5] == STORAGE.replace(
        't.c.owner_id == owner_id, u.c.owner_id == sa.bindparam("öwner")', "sa.true(), sa.true()"
    )


def test_storage_has_such_statements(mutation: ModuleType) -> None:
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "citewell/storage").rglob("*.py")]
    assert sum(len(list(mutation.without_owner(source))) for source in sources) > 25


def test_changes_are_counted_by_part(mutation: ModuleType, tmp_path: Path) -> None:
    for name, codes in {
        "citewell/retrieve/fusion.py": [1, 1, 0, None],  # two noticed, one not, one never tried
        "citewell/agent/citations/check.py": [33, 3, 24],  # no test reaches it, pytest broke, without end
        "citewell/agent/citations/claims.py": [5],
        "citewell/text/tokens.py": [0],
    }.items():
        path = tmp_path / f"{name}.meta"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"exit_code_by_key": {str(n): code for n, code in enumerate(codes)}}))
    scores = mutation.mutmut_scores(tmp_path)
    assert {part: (score.killed, score.tried) for part, score in scores.items()} == {
        "citation checker": (2, 4),
        "fusion": (2, 3),
        "filters": (0, 0),
    }
    assert scores["filters"].percent == 0.0


def test_a_part_below_the_floor_is_marked(mutation: ModuleType) -> None:
    lines = mutation.report({"one": mutation.Score(8, 10), "two": mutation.Score(79, 100)}, 80.0).splitlines()
    assert lines[1].split() == ["one", "8", "10", "80.0%"]
    assert lines[2].split() == ["two", "79", "100", "79.0%", "below", "the", "floor"]
