"""English that reads as if it were translated is kept out of pages, docstrings, error messages and the interface's texts."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
# What not to write, and what to write instead.
UNIDIOMATIC = {
    r"(?<!\bas it )(?<!\bas they )\b(?:stands|stand|stood)\b(?! (?:for|in for|out|alone|still|up)\b)": "is, appears, is stored",
    r"\banew\b": "again",
    r"\bof (?:ours|theirs)\b": "name the owner: Citewell's, the vendor's",
    r"(?<!there )\b(?:is|are) none\b(?! of (?:these|those|them)\b)": "is not one, is missing",
    r"\bthe very (?!first|last|same|edge|end|beginning|top|bottom)": "the exact",
    r"\bpresent (?:version|state|one)\b": "current",
    r"\bbehind (?:the (?:text|last|first|middle|end|word|number|heading|sentence|row|column|code|links?)|its end)\b": "after",
    r"\bforeign hosts?\b": "third party",
    r"\bone's own\b": "your own",
    r"\bwho may come in\b": "authentication",
    r"\bwhoever\b": "name the person or program",
}
PAGES = sorted(
    path
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "benchmarks").glob("*.md")]
    if path.name != "CHANGELOG.md"
)


def _found(text: str) -> list[str]:
    return [
        f"{match.group()!r}, better: {better}"
        for pattern, better in UNIDIOMATIC.items()
        for match in re.finditer(pattern, text, re.IGNORECASE)
        if "None" not in match.group()
    ]


def _texts_for_readers(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Docstrings, and the texts of errors that are raised."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield getattr(node, "lineno", 1), ast.get_docstring(node) or ""
        elif isinstance(node, ast.Raise) and node.exc is not None:
            for part in ast.walk(node.exc):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield part.lineno, part.value


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_are_idiomatic(page: Path) -> None:
    assert _found(page.read_text(encoding="utf-8")) == []


def test_docstrings_and_errors_are_idiomatic() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {problem}"
        for path in sorted((ROOT / "citewell").rglob("*.py"))
        for line, text in _texts_for_readers(ast.parse(path.read_text(encoding="utf-8")))
        for problem in _found(text)
    ]
    assert found == []


def test_an_error_is_two_sentences_at_most() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in sorted((ROOT / "citewell").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args
        if len(re.findall(r"[.!?](?: |$)", _literal(node.exc.args[0]))) > 2
    ]
    errors = ast.parse((ROOT / "citewell/errors.py").read_text(encoding="utf-8")).body
    default = [ast.get_docstring(node) or "" for node in errors if isinstance(node, ast.ClassDef)]
    assert found + [text for text in default if len(re.findall(r"[.!?](?: |$)", text)) > 2] == []


def _literal(node: ast.expr) -> str:
    """The text of an expression, without what is put into it."""
    return "".join(n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str))


def test_the_texts_of_the_interface_are_idiomatic() -> None:
    assert _found((ROOT / "web/src/strings.ts").read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "text",
    ["the words it stands behind", "written anew", "a setting of ours", "a number that is none", "the very words", "one behind the last word"],
)  # fmt: skip
def test_what_is_unidiomatic_is_found(text: str) -> None:
    assert _found(text)


@pytest.mark.parametrize(
    "text",
    ["`n` stands for a number", "an empty list if there is none", "the very first page", "kept behind a port", "None where `table` is None"],
)  # fmt: skip
def test_what_is_idiomatic_is_let_pass(text: str) -> None:
    assert _found(text) == []
