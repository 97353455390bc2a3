"""The floor of coverage: a package below it fails, however well others are covered."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts/coverage_by_package.py"


def _run(folder: Path, files: Mapping[str, tuple[int, int]], *floor: str) -> subprocess.CompletedProcess[str]:
    """The script on a report of files with (statements, lines that ran)."""
    report = {
        "files": {
            name: {"summary": {"num_statements": all_, "covered_lines": ran}} for name, (all_, ran) in files.items()
        }
    }
    (folder / "report.json").write_text(json.dumps(report))
    command = [sys.executable, str(SCRIPT), str(folder / "report.json"), *floor]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_files_are_added_up_by_package_and_the_least_covered_comes_first(tmp_path: Path) -> None:
    files = {"citewell/text/a.py": (60, 60), "citewell/text/deep/b.py": (40, 36), "citewell/ports.py": (10, 9)}
    done = _run(tmp_path, files)
    assert done.returncode == 0, done.stderr
    assert [line.split() for line in done.stdout.splitlines()] == [
        ["package", "statements", "covered"],
        ["(modules)", "10", "90.0%"],
        ["text", "100", "96.0%"],
        ["total", "110", "95.5%"],
    ]


@pytest.mark.parametrize(("ran", "code"), [(84, 1), (85, 0)])
def test_one_package_below_the_floor_fails_whatever_the_total(tmp_path: Path, ran: int, code: int) -> None:
    done = _run(tmp_path, {"citewell/chunk/a.py": (100, ran), "citewell/text/b.py": (10_000, 10_000)})
    assert done.returncode == code
    assert ("chunk" in done.stderr) == bool(code)
    assert "text" not in done.stderr


def test_the_floor_can_be_another(tmp_path: Path) -> None:
    assert _run(tmp_path, {"citewell/chunk/a.py": (100, 84)}, "80").returncode == 0


def test_a_package_without_statements_is_covered(tmp_path: Path) -> None:
    assert _run(tmp_path, {"citewell/chunk/__init__.py": (0, 0)}).returncode == 0


def test_a_report_of_nothing_fails(tmp_path: Path) -> None:
    done = _run(tmp_path, {})
    assert done.returncode == 1
    assert "nothing was measured" in done.stderr
