"""No setting is declared without effect: each field is read outside `citewell.settings`, each adapter imports, each extra installs something."""

from __future__ import annotations

import ast
import importlib
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from citewell import settings as package
from citewell.adapters.registry import FACTORIES
from citewell.settings import NoChat, NoRerank, NoVision, Settings
from citewell.settings.base import SettingsGroup, declared
from citewell.settings.loading import GROUPS

ROOT = Path(__file__).resolve().parent.parent
KINDS = (Settings, *(kind for kinds in GROUPS.values() for kind in kinds))
WITHOUT_ADAPTER = (NoChat, NoRerank, NoVision)
Reads = set[tuple[type[SettingsGroup], str]]


class _Reader(ast.NodeVisitor):
    """Collects the attributes that are read of values known to be settings: by annotation, by assignment, or by the name `settings`."""

    def __init__(self) -> None:
        self.reads: Reads = set()
        self._known: dict[str, set[type[SettingsGroup]]] = {}

    def visit_arg(self, node: ast.arg) -> None:
        names = {name.id for name in ast.walk(node.annotation or node) if isinstance(name, ast.Name)}
        kinds = {kind for name in names for kind in _kinds_called(name)}
        if kinds:
            self._known[node.arg] = kinds

    def visit_Assign(self, node: ast.Assign) -> None:
        self.generic_visit(node)
        [target] = node.targets[:1]
        pairs = [(target, node.value)]
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            pairs = list(zip(target.elts, node.value.elts, strict=True))
        for name, value in pairs:
            if isinstance(name, ast.Name) and (kinds := self._kinds(value)):
                self._known[name.id] = kinds

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self.generic_visit(node)
        self.reads |= {(kind, node.attr) for kind in self._kinds(node.value)}

    def _kinds(self, node: ast.expr) -> set[type[SettingsGroup]]:
        if isinstance(node, ast.Name):
            return self._known.get(node.id, {Settings} if node.id == "settings" else set())
        if isinstance(node, ast.Attribute):
            if Settings in self._kinds(node.value):
                return set(GROUPS.get(node.attr, ()))
            return {Settings} if node.attr in ("settings", "_settings") else set()
        return set()


def _kinds_called(name: str) -> set[type[SettingsGroup]]:
    """The groups that a name of `citewell.settings` means: a class, or a union of classes."""
    found = getattr(package, name, None)
    return {kind for kind in (get_args(found) or (found,)) if kind in KINDS}


def _reads_in(source: str) -> Reads:
    reader = _Reader()
    reader.visit(ast.parse(source))
    return reader.reads


def _reads() -> Reads:
    own = ROOT / "citewell/settings"
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "citewell").rglob("*.py") if path.parent != own]
    return set().union(*map(_reads_in, sources))


def _read_by_properties(reads: Reads) -> Reads:
    """What the properties and methods of groups, or of what they have in common, read of their own fields, for those that are used outside."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in (ROOT / "citewell/settings").glob("*.py")]
    return {
        (kind, node.attr)
        for tree in trees
        for group in ast.walk(tree)
        if isinstance(group, ast.ClassDef)
        for kind in KINDS
        if any(part.__name__ == group.name for part in kind.__mro__)
        for method in group.body
        if isinstance(method, ast.FunctionDef) and (kind, method.name) in reads
        for node in ast.walk(method)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    }


def _declared() -> Iterator[tuple[type[SettingsGroup], str]]:
    for kind in KINDS:
        for name in declared(kind):
            # A provider is chosen by its class.
            if name != "provider":
                yield kind, name


@pytest.mark.full
def test_every_setting_is_read() -> None:
    reads = _reads()
    unread = set(_declared()) - reads - _read_by_properties(reads)
    assert {f"{kind.__name__}.{name}" for kind, name in unread} == set()


def test_a_setting_that_nothing_reads_is_noticed() -> None:
    source = (
        "def f(settings: Settings, chosen: OpenAIChat):\n    own = settings.retrieval\n    own.top_k, chosen.api_key\n"
    )
    assert {(kind.__name__, name) for kind, name in _reads_in(source)} == {
        ("Settings", "retrieval"),
        ("RetrievalSettings", "top_k"),
        ("OpenAIChat", "api_key"),
    }


def test_every_provider_that_can_be_chosen_has_an_adapter() -> None:
    chosen = {kind for kinds in GROUPS.values() for kind in kinds if "provider" in declared(kind)}
    assert chosen - set(WITHOUT_ADAPTER) == set(FACTORIES)


@pytest.mark.parametrize("target", sorted(set(FACTORIES.values())))
def test_every_adapter_imports(target: str) -> None:
    module, _, attribute = target.partition(":")
    assert callable(getattr(importlib.import_module(module), attribute))


def test_every_extra_installs_something() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert [extra for extra, packages in project["optional-dependencies"].items() if not packages] == []
