"""The codes that the browser interface has words for are the codes that the server uses."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import get_args

import pytest

from citewell import errors
from citewell.errors import CitewellError, ExtractionError
from citewell.filters.language import FIELDS
from citewell.ingest import workers
from citewell.settings import VectorStore
from citewell.storage.vectors.indexes import IndexState
from citewell.types import ElementType, Status, UsageKind
from citewell.types.accounts import SignInProblem
from citewell.types.answers import Verdict
from citewell.types.resources import TERMINAL
from citewell.types.search import Scores

ROOT = Path(__file__).resolve().parents[2]
LISTS = {
    name: set(re.findall(r'"([^"]+)"', values))
    for name, values in re.findall(
        r"export const (\w+) = \[(.*?)\] as const",
        (ROOT / "web/src/api/codes.ts").read_text(encoding="utf-8"),
        re.DOTALL,
    )
}


def _calls(folder: str, name: str) -> Iterator[ast.Call]:
    """Calls of a function or method called `name` in the modules of a folder or in one module."""
    path = ROOT / "citewell" / folder
    for module in [path] if path.is_file() else sorted(path.rglob("*.py")):
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", None)) == name:
                yield node


def _texts(node: ast.AST) -> set[str]:
    return {n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)}


def _codes_of(kind: type[CitewellError]) -> set[str]:
    return {kind.code}.union(
        *(_codes_of(child) for child in kind.__subclasses__() if child.__module__ == errors.__name__)
    )


def _worker_codes() -> set[str]:
    """The errors that the workers themselves make, beside those that reading a file raises."""
    nodes = list(ast.walk(ast.parse(inspect.getsource(workers))))
    made = [n.exc for n in nodes if isinstance(n, ast.Raise)] + [n.func for n in nodes if isinstance(n, ast.Call)]
    kinds = [getattr(errors, node.id, None) for node in made if isinstance(node, ast.Name)]
    return {kind.code for kind in kinds if isinstance(kind, type) and issubclass(kind, CitewellError)} - _codes_of(
        ExtractionError
    )


def _units() -> set[str]:
    named = {text for call in _calls("extract", "start_unit") if call.args for text in _texts(call.args[0])}
    return named.union(
        *(
            _texts(word.value)
            for call in _calls("ingest", "UnitCoverage")
            for word in call.keywords
            if word.arg == "unit"
        )
    )


def _steps() -> set[str]:
    return {text for call in _calls("retrieve", "timed") for text in _texts(call.args[1])}


def _health_parts() -> set[str]:
    chosen = [call.args[0] for call in _calls("doctor/probing.py", "_found")]
    first = [call.args[0] for name in ("Finding", "_optional") for call in _calls("doctor/examination.py", name)]
    service = ast.parse((ROOT / "citewell/features/health/service.py").read_text(encoding="utf-8"))
    check = next(node for node in ast.walk(service) if isinstance(node, ast.AsyncFunctionDef) and node.name == "check")
    probed = [key for node in ast.walk(check) if isinstance(node, ast.Dict) for key in node.keys if key]
    return {text for node in [*chosen, *first, *probed] for text in _texts(node)}


SERVER: dict[str, Callable[[], set[str]]] = {
    "STATUSES": lambda: set(Status),
    "FINAL_STATUSES": lambda: set(TERMINAL),
    "EXTRACTION_CODES": lambda: _codes_of(ExtractionError),
    "WORKER_CODES": _worker_codes,
    "UNITS": _units,
    "ELEMENT_TYPES": lambda: set(ElementType),
    "VERDICTS": lambda: set(Verdict),
    "LEGS": lambda: set(Scores(**{field.name: 1.0 for field in fields(Scores)}).to_json()),
    "SEARCH_STEPS": _steps,
    "FILTER_FIELDS": lambda: set(FIELDS),
    "USAGE_KINDS": lambda: set(get_args(UsageKind)),
    "INDEX_STATES": lambda: set(IndexState),
    "VECTOR_STORES": lambda: set(get_args(VectorStore)),
    "HEALTH_PARTS": _health_parts,
    "SIGN_IN_PROBLEMS": lambda: set(SignInProblem),
}


@pytest.mark.parametrize("name", SERVER)
def test_the_interface_knows_the_codes_of_the_server_and_no_others(name: str) -> None:
    assert LISTS[name] == {str(code) for code in SERVER[name]()}


def test_every_list_of_codes_is_compared() -> None:
    assert set(LISTS) == set(SERVER)
