"""A table of the lines that tests ran, per package of `citewell/`; the exit code is 1 where one is below the floor.

`coverage json` writes what it reads: `python scripts/coverage_by_package.py REPORT.json [FLOOR]`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FLOOR = 85.0
MODULES = "(modules)"  # what stands in citewell/ itself


@dataclass(frozen=True)
class Covered:
    """Statements of a package, and how many of them ran."""

    statements: int = 0
    ran: int = 0

    @property
    def percent(self) -> float:
        """A package without statements is covered."""
        return 100.0 * self.ran / self.statements if self.statements else 100.0

    def __add__(self, other: Covered) -> Covered:
        return Covered(self.statements + other.statements, self.ran + other.ran)


def by_package(report: Mapping[str, Any]) -> dict[str, Covered]:
    """What the report says of each file, added up by the first folder below `citewell/`."""
    found: dict[str, Covered] = {}
    for name, file in report["files"].items():
        parts = Path(name).parts
        below = parts[parts.index("citewell") + 1 :]
        package = below[0] if len(below) > 1 else MODULES
        summary = file["summary"]
        found[package] = found.get(package, Covered()) + Covered(summary["num_statements"], summary["covered_lines"])
    return found


def table(packages: Mapping[str, Covered], floor: float) -> str:
    """One line per package, the least covered first, and the total."""
    rows = sorted(packages.items(), key=lambda item: (item[1].percent, item[0]))
    rows.append(("total", sum(packages.values(), Covered())))
    width = max(len(name) for name, _ in rows)
    lines = [f"{'package':{width}}  statements  covered"]
    for name, covered in rows:
        below = "  below the floor" if name in packages and covered.percent < floor else ""
        lines.append(f"{name:{width}}  {covered.statements:10,}  {covered.percent:6.1f}%{below}")
    return "\n".join(lines)


def main() -> int:
    """Print the table; 1 when a package is below the floor, or there is none."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("report", type=Path)
    parser.add_argument("floor", type=float, nargs="?", default=FLOOR)
    arguments = parser.parse_args()
    packages = by_package(json.loads(arguments.report.read_text(encoding="utf-8")))
    if not packages:
        print("The report names no file of citewell/: nothing was measured.", file=sys.stderr)
        return 1
    print(table(packages, arguments.floor))
    low = [name for name, covered in packages.items() if covered.percent < arguments.floor]
    if low:
        print(f"Below {arguments.floor:g} %: {', '.join(sorted(low))}.", file=sys.stderr)
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main())
