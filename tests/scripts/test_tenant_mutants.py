"""Each condition on an owner is found by itself, is taken out of the loaded code, and what is said to be equivalent is there."""

from __future__ import annotations

from types import ModuleType

import pytest

from citewell.filters import predicates
from citewell.types import Filter
from tests.scripts.loading import ROOT, load_script

pytestmark = pytest.mark.full

STORAGE = """
class Shelf:
    async def get(self, owner_id, n):
        return sa.select(t).where(t.c.id == n, t.c.owner_id == owner_id, u.c.owner_id == sa.bindparam("öwner"))

joined = t.join(u, t.c.owner_id == u.c.owner_id)
text = f"SELECT 1 FROM t WHERE owner_id = :owner AND t.owner_id = $1 AND u.owner_id = {value}"
mine = row["owner_id"] != owner_id
"""


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """The script as a module."""
    return load_script("tenant_mutants")


def test_every_condition_goes_by_itself_and_joins_stay(script: ModuleType) -> None:
    found = {one.condition: one for one in script.mutants("citewell/storage/shelf.py", STORAGE)}
    assert set(found) == {
        "t.c.owner_id == owner_id",
        "u.c.owner_id == sa.bindparam('öwner')",
        "owner_id = :owner",
        "t.owner_id = $1",
        "u.owner_id = {value}",
        "row['owner_id'] != owner_id",
    }
    first = found["t.c.owner_id == owner_id"]
    assert (first.line, first.function) == (4, "Shelf.get")
    assert first.source == STORAGE.replace("t.c.owner_id == owner_id, u", "sa.true(), u")
    assert ":owner IS NOT NULL AND" in found["owner_id = :owner"].source
    assert "mine = False" in found["row['owner_id'] != owner_id"].source


def test_all_of_the_package_are_found_and_every_exception_is_one_of_them(script: ModuleType) -> None:
    found = [
        one
        for path in (ROOT / "citewell").rglob("*.py")
        for one in script.mutants(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))
    ]
    assert len(found) > 120
    assert set(script.EQUIVALENT) <= {one.key for one in found}


def test_a_change_is_made_in_the_loaded_code(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    path = "citewell/filters/predicates.py"
    [change] = script.mutants(path, (ROOT / path).read_text(encoding="utf-8"))
    monkeypatch.setattr(predicates.admits, "__code__", predicates.admits.__code__)  # put back afterwards
    foreign = {"owner_id": "ben"}
    assert not predicates.admits(Filter(owner_id="ada"), foreign)
    script.apply(change)
    assert predicates.admits(Filter(owner_id="ada"), foreign)
