"""The rules of the project as a whole, executed."""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.metadata
import inspect
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.routing import APIRoute, APIRouter

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
REQUIREMENTS = sorted((ROOT / "requirements").glob("*.txt"))

# Who touches the environment, and for what.
ENVIRONMENT_USERS = {
    "citewell/__init__.py": "turns ONNX Runtime's reports off before it is imported",
    "citewell/system/environment.py": "the only reader of configuration",
    "citewell/extract/sandbox/job.py": "points the parser process's own temporary folders at its scratch folder",
    "citewell/ingest/parser_template.py": "hands the parser process the few names that any program needs",
}
MAX_FUNCTION_LENGTH, MAX_FILE_LENGTH = 60, 500
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


def _sources(folder: str) -> list[tuple[str, str]]:
    paths = sorted((ROOT / folder).rglob("*.py"))
    return [(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")) for path in paths]


@functools.cache
def _modules(folder: str) -> list[tuple[str, str, ast.Module]]:
    return [(name, source, ast.parse(source)) for name, source in _sources(folder)]


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


@pytest.mark.parametrize("file", ["base", "server", "dev", "build", "node", "docs", "mutation"])
def test_requirement_files_are_in_step_with_pyproject(file: str) -> None:
    groups = PYPROJECT["dependency-groups"]
    declared = PYPROJECT["project"]["dependencies"] if file in ("base", "server") else groups[file]
    if file == "dev":
        declared = [*declared, *_declared()]
    own = {"citewell-multilingual"}  # in this repository, beside what is pinned
    missing = {_normalised(name) for name in declared} - own - _pins(ROOT / f"requirements/{file}.txt").keys()
    assert not missing, "run `make requirements`"


def test_tests_run_with_the_versions_that_users_get() -> None:
    dev = _pins(ROOT / "requirements/dev.txt")
    for file in ("base", "server"):
        pins = _pins(ROOT / f"requirements/{file}.txt")
        assert {name: dev.get(name) for name in pins} == pins


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
        if source.count("\n") > MAX_FILE_LENGTH:
            large.append(f"{name}: {source.count(chr(10))} lines")
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > MAX_FUNCTION_LENGTH:
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


def test_limits_are_called_max_or_min() -> None:
    superlative = re.compile(r"_?(?:MOST|LONGEST|SHORTEST|FEWEST|LEAST|LARGEST|SMALLEST|DEEPEST|HIGHEST|LOWEST)(?:_|$)")
    found = [
        f"{name}: {node.id}"
        for name, _, tree in _modules("citewell")
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and superlative.match(node.id)
    ]
    assert found == []


def test_nothing_is_left_for_later() -> None:
    pattern = re.compile(r"\b(?:TODO|FIXME|XXX)\b|raise NotImplementedError")
    found = [
        f"{name}:{number}"
        for folder in ("citewell", "scripts", "benchmarks", "tests")
        for name, source in _sources(folder)
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
    "features": ("citewell/features/chat/zz_violation.py", "import citewell.features.search.service"),
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


def test_the_contract_of_the_features_names_them_all() -> None:
    contract = next(c for c in PYPROJECT["tool"]["importlinter"]["contracts"] if c["id"] == "features")
    folders = {path.parent.name for path in (ROOT / "citewell/features").glob("*/__init__.py")}
    assert set(contract["modules"]) == {f"citewell.features.{folder}" for folder in folders}


def _is_data(name: str) -> bool:
    return name == "__pycache__" or ("." in name and not name.endswith(".py"))


# ---- Features: endpoints → service → repository, or endpoints → repository where there is nothing to decide. ----

_FEATURE_FILES = {"endpoints.py", "service.py", "schemas.py"}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_PLAIN = {"int", "float", "bool", "str"}
# The built interface: files for browsers, with no JSON in or out and nothing to look up.
_WITHOUT_SERVICE = "web"


def _services() -> dict[str, set[str]]:
    """The services, each with what an endpoint may use of it: its methods, its plain values, and its repository."""
    found: dict[str, set[str]] = {}
    for _, _, tree in _modules("citewell/features"):
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and node.name.endswith(("Service", "Tools")):
                found[node.name] = {part.name for part in node.body if isinstance(part, _FUNCTIONS)} | {
                    ast.unparse(part.target)
                    for part in node.body
                    if isinstance(part, ast.AnnAssign)
                    and (ast.unparse(part.annotation) in _PLAIN or ast.unparse(part.target) == "repository")
                }
    return found


def _reaches_through(tree: ast.Module, services: dict[str, set[str]]) -> list[str]:
    """Where an endpoint uses a part of a service other than its repository, or the repository where the service decides."""
    makers = {
        node.name: node.returns.id
        for node in ast.walk(tree)
        if isinstance(node, _FUNCTIONS) and isinstance(node.returns, ast.Name) and node.returns.id in services
    }
    held: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.arg | ast.AnnAssign) and node.annotation is not None:
            name = node.arg if isinstance(node, ast.arg) else ast.unparse(node.target)
            for kind in services.keys() & set(re.findall(r"\w+", ast.unparse(node.annotation))):
                held[name] = kind
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            kind = makers.get(ast.unparse(node.value.func))
            held |= {ast.unparse(target): kind for target in node.targets if kind}

    def kind_of(node: ast.expr) -> str | None:
        return makers.get(ast.unparse(node.func)) if isinstance(node, ast.Call) else held.get(ast.unparse(node))

    faults: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(("citewell.storage", "citewell.ingest")):
            faults.append(f"imports {node.module}")
        if not isinstance(node, ast.Attribute):
            continue
        owner = node.value
        if (kind := kind_of(owner)) is not None and node.attr not in services[kind]:
            faults.append(f"{ast.unparse(node)} of {kind}")
        through = kind_of(owner.value) if isinstance(owner, ast.Attribute) and owner.attr == "repository" else None
        if through is not None and node.attr in services[through]:
            faults.append(f"{ast.unparse(node)}, where {through} has its own {node.attr}")
        if (
            isinstance(owner, ast.Attribute)
            and isinstance(owner.value, ast.Attribute)
            and owner.value.attr == "services"
        ):
            faults.append(ast.unparse(node))
    return faults


def test_endpoints_use_services_and_no_part_but_the_repository() -> None:
    services = _services()
    assert len(services) > 12
    faults = [
        f"{name}: {fault}"
        for name, _, tree in _modules("citewell/features")
        if name.endswith("/endpoints.py")
        for fault in _reaches_through(tree, services)
    ]
    assert not faults


@pytest.mark.parametrize(
    "line",
    [
        "service.projects.resolve(owner, name)",
        "service.repository.delete(owner, id)",
        "_service(request).content.load_chunks(owner, [])",
        "send(service.blobs)",
        "request.app.state.services.resources.blobs",
        "from citewell.storage.files.projects import ProjectRepository",
    ],
)
def test_an_endpoint_that_reaches_through_its_service_is_found(line: str) -> None:
    head = "def _service(request) -> ResourceService: ...\nasync def get(request):\n    service = _service(request)\n"
    assert not _reaches_through(ast.parse(f"{head}    await service.delete(owner, id)"), _services())
    assert not _reaches_through(ast.parse(f"{head}    await service.repository.get(owner, id)"), _services())
    assert _reaches_through(ast.parse(f"{head}    {line}"), _services())


def _misplaced(name: str, tree: ast.Module, models: set[str]) -> list[str]:
    """What a module of the features does that another file is for: models of pydantic, routers, and schemas in services."""
    file = name.rpartition("/")[2]
    faults: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and file != "schemas.py":
            faults += [f"{node.name} is a model" for base in node.bases if ast.unparse(base) in models]
        elif (
            isinstance(node, ast.Call) and ast.unparse(node.func) in ("APIRouter", "Router") and file != "endpoints.py"
        ):
            faults.append("makes a router")
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".include_router") and file != "routers.py":
            faults.append("includes a router, which is for routers.py")
        elif isinstance(node, ast.ImportFrom) and file == "service.py" and (node.module or "").endswith(".schemas"):
            faults.append(f"imports {node.module}")
    return faults


def _models() -> set[str]:
    classes = (
        node.name
        for name, _, tree in _modules("citewell/features")
        if name.endswith("schemas.py")
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    )
    return {"BaseModel", "RootModel", *classes}


def test_each_feature_has_the_same_files_and_each_thing_is_in_its_file() -> None:
    folders = {path.parent for path in (ROOT / "citewell/features").rglob("endpoints.py")}
    assert len(folders) > 12
    incomplete = [path.name for path in folders if not {p.name for p in path.iterdir()} >= _FEATURE_FILES]
    assert incomplete == [_WITHOUT_SERVICE]
    models = _models()
    faults = [f"{name}: {f}" for name, _, tree in _modules("citewell/features") for f in _misplaced(name, tree, models)]
    assert not faults


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("endpoints.py", "class TokenIn(RequestBody): ..."),
        ("service.py", "class Wide(BaseModel): ..."),
        ("service.py", "from citewell.features.chat.schemas import ChatIn"),
        ("sessions.py", "router = APIRouter()"),
        ("endpoints.py", "router.include_router(other)"),
    ],
)
def test_what_is_in_the_wrong_file_of_a_feature_is_found(file: str, line: str) -> None:
    assert _misplaced(f"citewell/features/chat/{file}", ast.parse(line), _models())


def test_what_reads_a_body_is_made_with_its_route() -> None:
    """Later pydantic would warn, in the middle of a request, about what FastAPI says of the field."""
    from citewell.features.routers import FEATURES
    from citewell.features.webhooks.endpoints import describe_events

    described = APIRouter()
    describe_events(described)
    routers = (*(router for feature in FEATURES for router in feature.load()), described)
    routes = [route for router in routers for route in router.routes if isinstance(route, APIRoute)]
    bodies = {route.path: route.body_field.field_info.annotation for route in routes if route.body_field is not None}
    assert len(bodies) > 20
    assert [path for path, body in bodies.items() if getattr(body, "model_config", {}).get("defer_build")] == []


# ---- Composition: parts are given by name, once. ----

_WIRED = ("citewell.features", "citewell.ingest", "citewell.indexes.migration")


def _wired() -> list[type]:
    """The classes of services, stages and migrations that composition makes."""
    found: dict[str, type] = {}
    for _, _, tree in _modules("citewell/composition"):
        homes = {
            alias.name: node.module or ""
            for node in tree.body
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and homes.get(ast.unparse(node.func), "").startswith(_WIRED):
                name = ast.unparse(node.func)
                kind = getattr(importlib.import_module(homes[name]), name)
                found |= {name: kind} if isinstance(kind, type) else {}
    return list(found.values())


def _takes_by_position(kind: type) -> list[str]:
    """The parameters after the first that may be given without their names."""
    parameters = list(inspect.signature(kind).parameters.values())
    return [p.name for p in parameters[1:] if p.kind is not inspect.Parameter.KEYWORD_ONLY]


def test_services_and_stages_take_their_parts_by_name() -> None:
    kinds = _wired()
    assert {"ResourceService", "ChatService", "Capture", "ExtractionStage", "IndexingStage"} <= {
        k.__name__ for k in kinds
    }
    assert {kind.__name__: names for kind in kinds if (names := _takes_by_position(kind))} == {}

    class Positional:
        def __init__(self, blobs: object, jobs: object) -> None: ...

    assert _takes_by_position(Positional) == ["jobs"]


def _changes(tree: ast.Module) -> list[str]:
    """Attributes that are set from outside, but for the services of the application, which come with its life."""
    targets = [
        target
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
    ]
    named = [ast.unparse(target) for target in targets if isinstance(target, ast.Attribute)]
    return [name for name in named if name != "app.state.services"]


def test_no_service_is_changed_after_it_was_made() -> None:
    composing = [*_modules("citewell/composition"), *(m for m in _modules("citewell") if m[0] == "citewell/app.py")]
    assert len(composing) > 2
    assert [f"{name}: {fault}" for name, _, tree in composing for fault in _changes(tree)] == []
    loose = [kind.__name__ for kind in _wired() if kind.__name__.endswith("Service") and not _is_frozen(kind)]
    assert not loose
    assert _changes(ast.parse("services.health.configuration = look")) == ["services.health.configuration"]


def _is_frozen(kind: type) -> bool:
    return bool(getattr(getattr(kind, "__dataclass_params__", None), "frozen", False))
