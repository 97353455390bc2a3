"""The rules of the project as a whole, executed."""

from __future__ import annotations

import ast
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
REQUIREMENTS = sorted((ROOT / "requirements").glob("*.txt"))

# Who touches the environment, and for what.
ENVIRONMENT_USERS = {
    "citewell/__init__.py": "turns ONNX Runtime's reports off before it is imported",
    "citewell/settings/loading.py": "the only reader of configuration",
    "citewell/extract/sandbox/job.py": "points the parser process's own temporary folders at its scratch folder",
    "citewell/ingest/parser_template.py": "hands the parser process the few names that any program needs",
}
LONGEST_FUNCTION, LONGEST_FILE = 60, 500
GENERATED_BY_ALEMBIC = "citewell/storage/migrations/versions/"


def _tracked() -> list[str]:
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [name for name in listing.stdout.splitlines() if (ROOT / name).is_file()]


def _texts() -> Iterator[tuple[str, str]]:
    """Every tracked text file but this one, which names what it forbids."""
    for name in _tracked():
        data = (ROOT / name).read_bytes()
        if b"\0" not in data and not name.endswith((".pdf", Path(__file__).name)):
            yield name, data.decode("utf-8", "replace")


def _modules(folder: str) -> list[tuple[str, str, ast.Module]]:
    paths = sorted((ROOT / folder).rglob("*.py"))
    sources = [(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")) for path in paths]
    return [(name, source, ast.parse(source)) for name, source in sources]


def _normalised(requirement: str) -> str:
    name = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert name, requirement
    return re.sub(r"[-_.]+", "-", name.group()).lower()


def _pins(path: Path) -> dict[str, set[str]]:
    pins: dict[str, set[str]] = {}
    for name, version in re.findall(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", path.read_text(encoding="utf-8"), re.MULTILINE):
        pins.setdefault(_normalised(name), set()).add(version)
    return pins


def _declared() -> set[str]:
    project = PYPROJECT["project"]
    lists = [project["dependencies"], *project["optional-dependencies"].values()]
    return {_normalised(requirement) for requirements in lists for requirement in requirements}


def test_no_file_names_a_package_index_or_a_folder_of_somebodys_machine() -> None:
    index_hosts = r"pypi\.org/simple|files\.pythonhosted\.org|registry\.npmjs\.org|--(?:extra-)?index-url|--find-links"
    machine_paths = r"(?<![\w.:/{}$~-])/(?:root|home|Users|work)/[\w.-]+"
    pattern = re.compile(f"{index_hosts}|{machine_paths}")
    found = [f"{name}: {match.group()}" for name, text in _texts() for match in pattern.finditer(text)]
    assert not found


def test_no_file_holds_what_looks_like_a_key() -> None:
    pattern = re.compile(
        r"\b(?:sk-(?:ant-|proj-)?[A-Za-z0-9_-]{24,}|AKIA[0-9A-Z]{16}|ghp_[A-Za-z0-9]{36}|pa-[A-Za-z0-9_-]{32,})\b"
    )
    found = [f"{name}: {match.group()[:12]}…" for name, text in _texts() for match in pattern.finditer(text)]
    assert not found


@pytest.mark.parametrize("path", REQUIREMENTS, ids=lambda path: path.name)
def test_every_requirement_is_pinned_and_hashed(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    pinned = re.compile(r"^[A-Za-z0-9._-]+(?:\[[\w,-]+\])?==[^\s;]+(?: ;[^\\]*?)?(?:\s+--hash=sha256:[0-9a-f]{64})+$")
    assert lines
    assert [line for line in lines if not pinned.match(line)] == []


@pytest.mark.parametrize("file", ["base", "dev", "build", "node", "docs", "mutation"])
def test_requirement_files_are_in_step_with_pyproject(file: str) -> None:
    groups = PYPROJECT["dependency-groups"]
    declared = PYPROJECT["project"]["dependencies"] if file == "base" else groups[file]
    if file == "dev":
        declared = [*declared, *_declared()]
    missing = {_normalised(name) for name in declared} - _pins(ROOT / f"requirements/{file}.txt").keys()
    assert not missing, "run `make requirements`"


def test_tests_run_with_the_versions_that_users_get() -> None:
    base, dev = _pins(ROOT / "requirements/base.txt"), _pins(ROOT / "requirements/dev.txt")
    assert {name: dev.get(name) for name in base} == base


def test_every_library_that_citewell_imports_is_declared() -> None:
    distributions = importlib.metadata.packages_distributions()
    undeclared: set[str] = set()
    for name, _, tree in _modules("citewell"):
        for package in _imported_packages(tree) - sys.stdlib_module_names - {"citewell"}:
            owners = {_normalised(owner) for owner in distributions.get(package, [package])}
            if not owners & _declared():
                undeclared.add(f"{name}: {package}")
    assert not undeclared


def _imported_packages(tree: ast.Module) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module)
    return {name.split(".")[0] for name in names}


def test_only_settings_reads_the_environment() -> None:
    users: set[str] = set()
    for name, _, tree in _modules("citewell"):
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr in {"environ", "environb", "getenv", "putenv"}:
                users.add(name)
            elif isinstance(node, ast.ImportFrom) and node.module in {"os", "pydantic_settings", "dotenv"}:
                names = {alias.name for alias in node.names}
                if node.module != "os" or names & {"environ", "getenv"}:
                    users.add(name)
    assert users <= ENVIRONMENT_USERS.keys()


def test_functions_and_files_stay_small() -> None:
    large: list[str] = []
    for name, source, tree in _modules("citewell"):
        if name.startswith(GENERATED_BY_ALEMBIC):
            continue
        if source.count("\n") > LONGEST_FILE:
            large.append(f"{name}: {source.count(chr(10))} lines")
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > LONGEST_FUNCTION:
                    large.append(f"{name}: {node.name} has {length} lines")
    assert not large


# Two public classes of one name, and why each is right.
SHARED_NAMES = {
    "CitewellRetriever": "what LangChain's users and LlamaIndex's users each look for",
}


def test_no_two_public_classes_share_a_name() -> None:
    homes: dict[str, list[str]] = {}
    for name, _, tree in _modules("citewell"):
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(name)
    assert {name: places for name, places in homes.items() if len(places) > 1 and name not in SHARED_NAMES} == {}


def test_nothing_is_left_for_later() -> None:
    pattern = re.compile(r"\b(?:TODO|FIXME|XXX)\b|raise NotImplementedError")
    found = [
        f"{name}:{number}"
        for folder in ("citewell", "scripts", "benchmarks", "tests")
        for name, source, _ in _modules(folder)
        if not name.endswith(Path(__file__).name)
        for number, line in enumerate(source.splitlines(), 1)
        if pattern.search(line)
    ]
    assert not found


def test_no_test_is_skipped() -> None:
    found = [
        f"{name}:{node.lineno}"
        for name, _, tree in _modules("tests")
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in {"skip", "skipif", "xfail", "importorskip"}
    ]
    assert not found


def test_scripts_can_be_run_after_a_clone() -> None:
    listing = subprocess.run(
        ["git", "ls-files", "--stage", ".ci", "scripts/*.sh"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert any(line.endswith(".ci/run") for line in listing)
    assert [line for line in listing if not line.startswith("100755")] == []


def test_samples_are_what_their_script_writes() -> None:
    outcome = subprocess.run(
        [sys.executable, "scripts/make_samples.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr


def test_the_package_imports_without_the_environment_of_a_developer(tmp_path: Path) -> None:
    """A bare environment and another working directory: nothing is read from the place where the code stands."""
    outcome = subprocess.run(
        [sys.executable, "-W", "error", "-c", "import citewell.cli"],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert outcome.returncode == 0, outcome.stderr


# One forbidden import per contract: a contract that cannot break protects nothing.
VIOLATIONS = {
    "layers": ("citewell/storage/zz_violation.py", "import citewell.retrieve"),
    "adapters": ("citewell/features/zz_violation.py", "import citewell.adapters"),
    "parsers": ("citewell/features/zz_violation.py", "import citewell.extract"),
    "pure": ("citewell/chunk/zz_violation.py", "import sqlalchemy"),
    "parser-process": ("citewell/extract/zz_violation.py", "import citewell.text"),
    "agent": ("citewell/agent/zz_violation.py", "import citewell.storage"),
    "agent-layers": ("citewell/agent/citations/zz_violation.py", "import citewell.agent.turn"),
    "agent-tables": ("citewell/agent/tables/query/zz_violation.py", "import citewell.agent.tables.run"),
    "http": ("citewell/retrieve/zz_violation.py", "import fastapi"),
    "workflow-engine": ("citewell/storage/zz_violation.py", "import dbos"),
    "graph-engine": ("citewell/retrieve/zz_violation.py", "import langgraph"),
    "vendors": ("citewell/agent/zz_violation.py", "import openai"),
}


def test_every_import_contract_can_break(tmp_path: Path) -> None:
    contracts = {contract["id"]: contract["name"] for contract in PYPROJECT["tool"]["importlinter"]["contracts"]}
    assert contracts.keys() == VIOLATIONS.keys()
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copytree(ROOT / "citewell", tmp_path / "citewell", ignore=lambda _, names: [n for n in names if _is_data(n)])
    for name, statement in VIOLATIONS.values():
        with (tmp_path / name).open("a", encoding="utf-8") as file:
            file.write(statement + "\n")
    report = subprocess.run(
        [shutil.which("lint-imports", path=str(Path(sys.executable).parent)) or "lint-imports", "--no-cache"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path), "COLUMNS": "300"},
        capture_output=True,
        text=True,
        check=False,
    )
    kept = [name for name in contracts.values() if f"{name} BROKEN" not in report.stdout]
    assert not kept, report.stdout + report.stderr


def _is_data(name: str) -> bool:
    return name == "__pycache__" or ("." in name and not name.endswith(".py"))
