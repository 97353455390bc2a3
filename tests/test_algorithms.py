"""The pages about algorithms list every threshold of the code, with its value; and no number in that code is left unexplained."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from citewell import chunk, text
from citewell.extract.core import ocr
from citewell.extract.formats import pdf
from citewell.extract.formats.pdf.tables.thresholds import THRESHOLDS, PdfTableThresholds

ROOT = Path(__file__).resolve().parent.parent
PAGES = {
    pdf: ROOT / "docs/algorithms/pdf.md",
    chunk: ROOT / "docs/algorithms/chunking.md",
    text: ROOT / "docs/algorithms/summaries.md",
}

# The sections of the one value that holds the thresholds of tables, as their headings name them.
SECTIONS = {
    type(getattr(THRESHOLDS, field.name)): f"tables.{field.name}" for field in dataclasses.fields(PdfTableThresholds)
}


def threshold_classes(package: ModuleType) -> Iterator[tuple[str, type]]:
    """Module (within the package) and class of every value of thresholds."""
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        module = importlib.import_module(found.name)
        for name, value in inspect.getmembers(module, inspect.isclass):
            if (
                value.__module__ == found.name
                and re.search(r"Thresholds$|Penalties$", name)
                and value is not PdfTableThresholds
            ):
                yield SECTIONS.get(value, found.name.removeprefix(f"{package.__name__}.")), value


def rows_of(page: str) -> dict[tuple[str, str], float]:
    """(name in the heading, threshold) → value, of every row of the page's tables."""
    found: dict[tuple[str, str], float] = {}
    heading = ""
    for line in page.splitlines():
        if line.startswith("#"):
            heading = next(iter(re.findall(r"`([\w.]+)`", line)), "")
        elif row := re.match(r"\| `(\w+)` \| ([\d.,_]+)", line):
            found[heading, row[1]] = float(row[2].replace(",", "").replace("_", ""))
    return found


@pytest.mark.parametrize("package", PAGES, ids=lambda package: package.__name__)
def test_every_threshold_is_on_its_page_with_its_value(package: ModuleType) -> None:
    rows = rows_of(PAGES[package].read_text(encoding="utf-8"))
    in_code = {
        (module if package is pdf else f"{module}.{kind.__name__}", field.name): float(str(field.default))
        for module, kind in threshold_classes(package)
        for field in dataclasses.fields(kind)
    }
    if package is pdf:
        in_code |= {
            ("core.ocr", f.name): f.default
            for f in dataclasses.fields(ocr.OcrThresholds)
            if f.type != "tuple[int, int]"
        }
    assert len(in_code) > 10
    assert {key: rows.get(key) for key in in_code} == in_code


@pytest.mark.parametrize("package", PAGES, ids=lambda package: package.__name__)
def test_every_threshold_is_explained_where_it_is_set(package: ModuleType) -> None:
    silent = [
        f"{module}.{field.name}"
        for module, kind in threshold_classes(package)
        for field in dataclasses.fields(kind)
        if not re.search(rf"^ +{field.name}: +\S", kind.__doc__ or "", re.MULTILINE)
    ]
    assert silent == []


@pytest.mark.parametrize("package", PAGES, ids=lambda package: package.__name__)
def test_no_numeric_constant_is_without_explanation(package: ModuleType) -> None:
    silent = [
        f"{path.name}: {name}"
        for path in Path(str(package.__file__)).parent.rglob("*.py")
        for name in unexplained(path.read_text(encoding="utf-8"))
    ]
    assert silent == []


def test_an_unexplained_number_is_noticed() -> None:
    assert unexplained("A = 3\nB = 0.5  # share\n# Bytes.\nC = 1 << 3\nD = 7\n'''Days.'''\nE = -1\n") == ["A", "E"]


def unexplained(source: str) -> list[str]:
    """Numeric constants of a module without a comment on or above their block, or a docstring below."""
    lines = source.splitlines()
    body = ast.parse(source).body
    found: list[str] = []
    explained_until = -1
    for node, after in zip(body, [*body[1:], None], strict=True):
        if not (isinstance(node, ast.Assign) and is_number(node.value) and isinstance(node.targets[0], ast.Name)):
            continue
        above = lines[node.lineno - 2].lstrip() if node.lineno > 1 else ""
        told = (
            "#" in lines[node.lineno - 1]
            or above.startswith("#")
            or node.lineno - 1 == explained_until
            or (isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant))
        )
        if not told:
            found.append(node.targets[0].id)
        elif above.startswith("#") or node.lineno - 1 == explained_until:
            explained_until = node.end_lineno or node.lineno
    return found


def is_number(value: ast.expr) -> bool:
    parts = list(ast.walk(value))
    constants = [part for part in parts if isinstance(part, ast.Constant)]
    plain = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop)
    return all(isinstance(part, plain) for part in parts) and all(isinstance(c.value, int | float) for c in constants)
