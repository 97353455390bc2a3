"""The table of what was tested against what is that of the tests that there are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.full

ROOT = Path(__file__).parent.parent.parent
_SCRIPT = ROOT / "scripts" / "provider_table.py"


@pytest.mark.slow(60)
def test_the_table_is_current() -> None:
    done = subprocess.run(
        [sys.executable, _SCRIPT, "--check"], capture_output=True, text=True, timeout=300, check=False, cwd=ROOT
    )
    assert done.returncode == 0, f"Run `make providers`. {done.stdout[-2_000:]}{done.stderr[-2_000:]}"


@pytest.mark.parametrize(("name", "least"), [("providers.md", 15), ("stores.md", 5)])
def test_every_row_has_been_tested(name: str, least: int) -> None:
    page = (ROOT / "docs" / name).read_text(encoding="utf-8")
    table = page.partition("<!-- written by scripts/provider_table.py -->")[2].partition("<!-- end -->")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ") and "`" in line]
    assert len(rows) >= least
    assert all(int(row[3]) > 0 and int(row[4]) > 0 for row in rows)
