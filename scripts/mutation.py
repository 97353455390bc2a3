"""Changes the code in small ways and counts the changes that its tests notice; the exit code is 1 below the floor.

`python scripts/mutation.py [FLOOR]` runs mutmut over the modules that `[tool.mutmut]` in pyproject.toml names, and then takes the
owner out of the conditions of one statement of `citewell/storage` after another, which `tests/storage/test_isolation.py` must notice.
What an earlier run found is kept in `mutants/` and not run again where neither code nor tests have changed; `mutmut browse` shows it.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FLOOR = 80.0
PARTS = {
    "citation checker": "citewell/agent/citations/",
    "fusion": "citewell/retrieve/fusion.py",
    "filters": "citewell/filters/language.py",
}
OWNERS = "owner conditions"
# Exit codes that mutmut keeps: a test failed or pytest broke, or the change made a loop without end.
KILLED, UNCHECKED = frozenset({1, 3, 24, 36, 152, 255, -24}), frozenset({None, 2, 34})
ISOLATION = ["-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-k", "sqlite", "tests/storage/test_isolation.py"]


@dataclass
class Score:
    """Changes of a part that were tried, and how many of them were noticed."""

    killed: int = 0
    tried: int = 0

    def count(self, noticed: bool) -> None:
        """One more."""
        self.tried += 1
        self.killed += noticed

    @property
    def percent(self) -> float:
        """0 for a part of which nothing was tried: that is no success."""
        return 100.0 * self.killed / self.tried if self.tried else 0.0


def mutmut_scores(folder: Path) -> dict[str, Score]:
    """What mutmut has written below `mutants/`, by part."""
    scores = {part: Score() for part in PARTS}
    for path in sorted(folder.rglob("*.meta")):
        name = path.relative_to(folder).as_posix().removesuffix(".meta")
        part = next((part for part, start in PARTS.items() if name.startswith(start)), None)
        if part is None:
            continue
        for code in json.loads(path.read_text(encoding="utf-8"))["exit_code_by_key"].values():
            if code not in UNCHECKED:
                scores[part].count(code in KILLED)
    return scores


def without_owner(source: str) -> Iterator[tuple[int, str]]:
    """Per statement that compares an owner's column with a value: its line, and the source with all these comparisons true."""
    tree = ast.parse(source)
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line.encode()))
    data = source.encode()
    for statement in ast.walk(tree):
        if not isinstance(statement, ast.stmt) or any(
            isinstance(child, ast.stmt) for child in ast.walk(statement) if child is not statement
        ):
            continue  # a function or a block: its statements come one by one
        changed = data
        for node in sorted(
            filter(_names_an_owner, ast.walk(statement)), key=lambda node: (node.lineno, node.col_offset), reverse=True
        ):
            begin = starts[node.lineno - 1] + node.col_offset
            end = starts[node.end_lineno - 1] + node.end_col_offset
            changed = changed[:begin] + b"sa.true()" + changed[end:]
        if changed != data:
            yield statement.lineno, changed.decode()


def _names_an_owner(node: ast.AST) -> bool:
    """`table.c.owner_id == value`; not a join of two tables' columns."""
    if not isinstance(node, ast.Compare) or not isinstance(node.ops[0], ast.Eq):
        return False
    return _is_owner_column(node.left) and not _is_column(node.comparators[0])


def _is_owner_column(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "owner_id" and _is_column(node)


def _is_column(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute) and node.value.attr == "c"


def owner_score(folder: Path, modules: Mapping[str, str]) -> Score:
    """Run the isolation tests once per change, on a copy of the package in `folder`; names those that went unnoticed."""
    score = Score()
    environment = os.environ | {"PYTHONPATH": str(folder)}
    whole = subprocess.run(
        [sys.executable, *ISOLATION], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if whole.returncode:
        raise SystemExit(f"The isolation tests fail without any change:\n{whole.stdout[-2000:]}")
    for name, source in modules.items():
        for line, changed in without_owner(source):
            (folder / name).write_text(changed, encoding="utf-8")
            done = subprocess.run(
                [sys.executable, *ISOLATION], cwd=folder, env=environment, capture_output=True, check=False
            )
            score.count(done.returncode != 0)
            if not done.returncode:
                print(f"unnoticed: {name}:{line} without its owner", flush=True)
        (folder / name).write_text(source, encoding="utf-8")
    return score


def copied(folder: Path) -> Path:
    """The package and its tests in an empty folder; models and the built interface are linked."""
    shutil.rmtree(folder, ignore_errors=True)
    heavy = {"models", "static", "__pycache__"}
    shutil.copytree(ROOT / "citewell", folder / "citewell", ignore=lambda at, names: heavy & set(names))
    for name in ("models", "static"):
        if (ROOT / "citewell" / name).exists():
            (folder / "citewell" / name).symlink_to(ROOT / "citewell" / name)
    # No link to the tests: pytest would follow it, and import the package beside them.
    shutil.copytree(ROOT / "tests", folder / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def report(scores: Mapping[str, Score], floor: float) -> str:
    """A line per part."""
    width = max(map(len, scores))
    lines = [f"{'part':{width}}  killed   total   share"]
    for part, score in scores.items():
        below = "  below the floor" if score.percent < floor else ""
        lines.append(f"{part:{width}}  {score.killed:6}  {score.tried:6}  {score.percent:5.1f}%{below}")
    return "\n".join(lines)


def main() -> int:
    """Run both, print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("floor", type=float, nargs="?", default=FLOOR)
    parser.add_argument("--only-owners", action="store_true", help="leave mutmut out")
    arguments = parser.parse_args()
    scores: dict[str, Score] = {}
    if not arguments.only_owners:
        command = [sys.executable, "-m", "mutmut", "run", "--max-children", str(os.cpu_count() or 1)]
        if subprocess.run(command, cwd=ROOT, check=False).returncode:
            print("mutmut did not run.", file=sys.stderr)
            return 1
        scores = mutmut_scores(ROOT / "mutants")
    modules = {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted((ROOT / "citewell/storage").rglob("*.py"))
    }
    scores[OWNERS] = owner_score(copied(ROOT / "build/mutation"), modules)
    print(report(scores, arguments.floor))
    return int(any(score.percent < arguments.floor for score in scores.values()))


if __name__ == "__main__":
    sys.exit(main())
