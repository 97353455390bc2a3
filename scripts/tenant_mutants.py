"""Takes one condition on the owner after another out of the code; the exit code is 1 when tests do not notice one of them.

`python scripts/tenant_mutants.py [PART…] [--list]`: of files whose path contains a PART, or of all.

Taken out are comparisons with an owner, in SQL (`table.c.owner_id == value` becomes true) and elsewhere; the owner in filters of vector
stores, in SQL that is written as text, and in the names of Redis' indexes; and what keeps an answer to the projects of a request (`SCOPES`, and
the corpus of a search in every store). Joins of two tables' columns stay: each table's owner is compared by itself. Every change is made in a process of its own, forked from one in which the
package and the tests are loaded, so that a change costs what its tests take; no file is written. Tests run in stages, from those of
isolation that name the changed class to all of the module; the first failure ends a change. What is equivalent is in `EQUIVALENT`, with the reason.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import gc
import importlib
import io
import os
import re
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 600
"""A change whose tests take longer counts as noticed: what was a search for one owner's rows has no end."""
_ISOLATION = "tests/storage/test_isolation.py"
_SQLITE = "not postgres"
_INDEX = "tests/adapters/index"
# Files whose tests do not have their name: the stages, each a choice of tests as on pytest's command line.
STAGES: dict[str, tuple[tuple[str, ...], ...]] = {
    "citewell/adapters/index/memory.py": ((f"{_INDEX}/test_memory.py",),),
    "citewell/adapters/index/pgvector_filters.py": ((f"{_INDEX}/test_pgvector.py",),),
    "citewell/adapters/index/pgvector_schema.py": ((f"{_INDEX}/test_pgvector.py",),),
    "citewell/adapters/index/pgvector_frames.py": ((f"{_INDEX}/test_pgvector_frames.py",),),
    "citewell/adapters/index/qdrant_conditions.py": ((f"{_INDEX}/test_qdrant_edge.py",),),
    "citewell/adapters/index/qdrant_edge_engine.py": ((f"{_INDEX}/test_qdrant_edge.py",),),
    "citewell/adapters/index/qdrant.py": ((f"{_INDEX}/test_qdrant.py",),),
    "citewell/adapters/index/redis.py": ((f"{_INDEX}/test_redis.py",),),
    "citewell/adapters/index/pinecone.py": ((f"{_INDEX}/test_pinecone.py",), (f"{_INDEX}/test_metered.py",)),
    "citewell/filters/predicates.py": ((f"{_INDEX}/test_memory.py",), (f"{_INDEX}/test_pinecone.py",)),
    "citewell/agent/turn/tools.py": (
        ("tests/agent/test_assistant.py",),
        ("tests/agent/tables/test_query.py",),
        ("tests/server/test_mcp.py",),
        ("tests/server/test_containment.py",),
    ),
    "citewell/agent/understand/understanding.py": (("tests/agent/test_intent.py",),),
    "citewell/channels/telegram/commands.py": (("tests/channels", "-k", "telegram and command"),),
    "citewell/composition/webhooks.py": (("tests/server/test_webhooks.py",),),
    "citewell/features/audit/service.py": (("tests/accounts/test_audit.py",),),
    "citewell/features/auth/service.py": (("tests/accounts/test_sharing.py",), ("tests/accounts",)),
    "citewell/features/health/service.py": (("tests/accounts",), ("tests/server/test_doctor.py",)),
    "citewell/features/indexes/service.py": (("tests/accounts",),),
    "citewell/features/local_models/service.py": (("tests/accounts",), ("tests/server/test_local_models.py",)),
    "citewell/features/owner_data/service.py": (("tests/server/test_owner_data.py",),),
    "citewell/features/resources/service.py": (("tests/accounts/test_joining.py",),),
    "citewell/features/search/service.py": (("tests/accounts/test_sharing.py", "-k", "small_talk"),),
    "citewell/storage/vectors/point_ledger.py": (
        ("tests/storage/test_point_ledger.py", "-k", _SQLITE),
        (f"{_INDEX}/test_pinecone.py",),
        (_ISOLATION, "-k", _SQLITE),
    ),
    "citewell/storage/accounts/tables.py": (
        ("tests/storage/test_service_accounts.py", "tests/storage/test_suspension.py", "-k", _SQLITE),
        ("tests/storage/test_quotations.py", "-k", _SQLITE),
    ),
    "citewell/storage/accounts/owner_data.py": (
        (_ISOLATION, "-k", f"{_SQLITE} and OwnerData"),
        ("tests/storage/test_members.py", "tests/storage/test_service_accounts.py", "-k", _SQLITE),
    ),
    "citewell/storage/spending/quotas.py": (
        (_ISOLATION, "-k", f"{_SQLITE} and Quota"),
        ("tests/storage/test_quotas.py", "-k", _SQLITE),
    ),
    "citewell/storage/accounts/members.py": (
        (_ISOLATION, "-k", f"{_SQLITE} and (Member or Invitation)"),
        ("tests/storage/test_members.py", "-k", _SQLITE),
        ("tests/storage/test_service_accounts.py", "-k", _SQLITE),
    ),
    "citewell/storage/files/facets.py": (
        (_ISOLATION, "-k", f"{_SQLITE} and Facet"),
        ("tests/storage/test_facet_counts.py",),
    ),
    "citewell/storage/channels/outbox.py": (
        ("tests/storage/test_webhooks.py", "-k", _SQLITE),
        (_ISOLATION, "-k", _SQLITE),
    ),
    "citewell/storage/files/densities.py": (
        (_ISOLATION, "-k", f"{_SQLITE} and Density"),
        ("tests/storage/test_content.py",),
    ),
}
SCOPES: dict[tuple[str, str], str] = {
    ("citewell/agent/turn/tools.py", "turn.request.scope"): "Scope()",
    ("citewell/agent/turn/tools.py", "request.scope"): "Scope()",
    ("citewell/agent/understand/understanding.py", "request.scope"): "type(request.scope)()",
    ("citewell/features/auth/service.py", "writes"): "True",
    ("citewell/features/resources/service.py", "within is not None"): "False",
    ("citewell/features/search/service.py", "scope"): "Scope()",
    ("citewell/storage/files/densities.py", "admitted"): "sa.true()",
    ("citewell/storage/files/metadata.py", "admitted"): "sa.true()",
    ("citewell/storage/files/passages.py", "corpus"): "None",
}
"""By module and expression, what takes the place of what keeps an answer to the projects of a request."""
EQUIVALENT: dict[str, str] = {
    "citewell/storage/channels/sources.py: SourceRepository.delete: sources.c.owner_id == owner_id": (
        "the id was looked up by the owner and the name right before"
    ),
    "citewell/storage/channels/outbox.py: None: webhooks.c.owner_id == sa.bindparam('which')": (
        "what is found is looked up by the owner afterwards, or only says whether anybody is to be told at all"
    ),
    "citewell/storage/files/projects.py: ProjectRepository.delete: projects.c.owner_id == owner_id": (
        "the project was looked up by its owner right before"
    ),
    "citewell/storage/accounts/owners.py: lock_owner: owners.c.id == owner_id": (
        "locks the owner on Postgres; without it all owners are locked, and nothing else is read or changed"
    ),
    "citewell/storage/files/facets.py: FacetRepository._sum_up: table.owner_id == owner_id": (
        "only says whether there is enough to put together; what is put together is in a statement with the owner"
    ),
}
"""`path: function: condition` of what no test can notice, and why."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A condition that is taken out: where, within which outermost function (None: of the module), and the source without it."""

    path: str
    line: int
    function: str | None
    condition: str
    source: str

    @property
    def key(self) -> str:
        """As in `EQUIVALENT`."""
        return f"{self.path}: {self.function}: {self.condition}"


def mutants(path: str, source: str) -> Iterator[Mutant]:
    """One per condition of a module."""
    tree = ast.parse(source)
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line.encode()))
    data = source.encode()
    for node in ast.walk(tree):
        if not isinstance(node, ast.expr) or (replacement := _without(path, node)) is None:
            continue
        begin, end = (
            starts[node.lineno - 1] + node.col_offset,
            starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0),
        )
        changed = data[:begin] + replacement.encode() + data[end:]
        yield Mutant(path, node.lineno, _function(tree, node), ast.unparse(node), changed.decode())
    yield from _in_texts(path, source, tree)


def _without(path: str, node: ast.expr) -> str | None:
    """What takes the place of a condition on an owner; None where `node` is none."""
    text = ast.unparse(node)
    if isinstance(getattr(node, "ctx", ast.Load()), ast.Load) and (path, text) in SCOPES:
        return SCOPES[path, text]
    if isinstance(node, ast.Compare) and text.endswith((".corpus is None", ".corpus is not None")):
        return str(text.endswith("is None"))
    if isinstance(node, ast.Attribute) and node.attr == "counted":
        return "type({0})(owner_id={0}.owner_id)".format(ast.unparse(node.value))
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        return _compared(node)
    if path.startswith("citewell/adapters/index/"):
        if text == "write.one_of(OWNER, [filter.owner_id])":
            return "write.all_of([])"
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "space_of":
            return 'space_of("everybody")'
    return None


def _compared(node: ast.Compare) -> str | None:
    left, right = node.left, node.comparators[0]
    if not isinstance(node.ops[0], ast.Eq | ast.NotEq) or not (_names_owner(left) or _names_owner(right)):
        return None
    if ast.unparse(right) == "OWNER" or ast.unparse(left) == "OWNER" or (_is_column(left) and _is_column(right)):
        return None  # the name of the field, or a join
    equal = isinstance(node.ops[0], ast.Eq)
    if _is_column(left):
        return "sa.true()" if equal else None
    return str(equal)


def _names_owner(node: ast.expr) -> bool:
    """`owner`, `x.owner_id`, `x.get(OWNER)`, `x.concat("")` of such, `invited_by` and `local_owner`."""
    names = re.search(r"\b(owner|owner_id|local_owner|invited_by|OWNER)\b", ast.unparse(node))
    return names is not None and not isinstance(node, ast.Await)


def _is_column(node: ast.expr) -> bool:
    """`table.c.column`, `column.owner_id` and `table.owner_id` of what is called by such a name, or the owner's own id."""
    text = ast.unparse(node)
    return re.match(r"\w+\.c\.\w+|(table|columns?|running|candidates)\.\w+", text) is not None


def _function(tree: ast.Module, node: ast.AST) -> str | None:
    """The outermost function around a node, by its qualified name."""
    for one in tree.body:
        inside = [(one, "")] if not isinstance(one, ast.ClassDef) else [(part, f"{one.name}.") for part in one.body]
        for part, prefix in inside:
            if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef) and node in set(ast.walk(part)):
                return prefix + part.name
    return None


def _in_texts(path: str, source: str, tree: ast.Module) -> Iterator[Mutant]:
    """Conditions in SQL that is written as text."""
    if "/migrations/" in path:
        return
    for found in re.finditer(
        r"(?:\b\w+\.)?owner_id = (\$\d|:\w+|current_setting\('[\w.]+', true\)|\{[^{}]*\})", source
    ):
        line = source.count("\n", 0, found.start()) + 1
        value = found[1]
        # What is bound stays bound: a parameter that occurs nowhere is an error, which would prove nothing.
        truth = "TRUE" if value.startswith("current_setting") else f"{value}::text IS NOT NULL"
        if value.startswith(":"):
            truth = f"{value} IS NOT NULL"
        changed = source[: found.start()] + truth + source[found.end() :]
        around = [n for n in ast.walk(tree) if isinstance(n, ast.expr) and n.lineno <= line <= (n.end_lineno or 0)]
        yield Mutant(path, line, _function(tree, around[0]) if around else None, found[0], changed)


def stages_of(mutant: Mutant) -> list[list[str]]:
    """Which tests run, cheapest first."""
    if mutant.path in STAGES:
        return [list(stage) for stage in STAGES[mutant.path]]
    stages: list[list[str]] = []
    if mutant.function and "." in mutant.function:
        stages.append([_ISOLATION, "-k", f"{_SQLITE} and {mutant.function.partition('.')[0]}"])
    named = ROOT / "tests/storage" / f"test_{Path(mutant.path).name}"
    if named.exists():
        stages.append([named.relative_to(ROOT).as_posix(), "-k", _SQLITE])
    return [*stages, [_ISOLATION, "-k", _SQLITE]]


def apply(mutant: Mutant) -> None:
    """Change the loaded module: the code of the function, or what the module defines."""
    module = importlib.import_module(mutant.path.removesuffix(".py").replace("/", "."))
    file = str(module.__file__)
    compiled = compile(mutant.source, file, "exec")
    if mutant.function is None:
        exec(compiled, module.__dict__)  # its methods read the names of the module when they are called
        return
    new = next(code for code in _codes(compiled) if code.co_qualname == mutant.function)
    changed = 0
    for one in gc.get_objects():
        if isinstance(one, FunctionType) and one.__code__.co_filename == file and one.__qualname__ == mutant.function:
            one.__code__ = new
            changed += 1
    if not changed:
        raise LookupError(f"{mutant.function} is not loaded.")


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)


def is_noticed(mutant: Mutant) -> bool:
    """Whether a stage of tests fails, or does not end; each in a fork of this process."""
    return any(_run(stage, mutant) for stage in stages_of(mutant))


def _run(arguments: Sequence[str], mutant: Mutant | None) -> bool:
    """Whether tests fail. No tests are no failure."""
    child = os.fork()
    if not child:
        os.setsid()
        code = 99
        with contextlib.suppress(BaseException):
            with Path(os.devnull).open("w", encoding="utf-8") as nothing:
                os.dup2(nothing.fileno(), 1)
                os.dup2(nothing.fileno(), 2)
            import pytest

            if mutant is not None:
                apply(mutant)
            code = int(pytest.main(["-q", "-x", "-p", "no:cacheprovider", *arguments]))
        os._exit(code)
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            if code in (2, 3, 4, 99):
                raise RuntimeError(f"pytest {' '.join(arguments)} did not run: {code}")
            return code not in (0, 5)
        time.sleep(0.02)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return True


def load(found: Sequence[Mutant]) -> None:
    """Import what is changed and the tests of isolation."""
    import pytest

    for path in {mutant.path for mutant in found}:
        importlib.import_module(path.removesuffix(".py").replace("/", "."))
    with contextlib.redirect_stdout(io.StringIO()):
        if pytest.main(["-q", "--collect-only", "-p", "no:cacheprovider", _ISOLATION]):
            raise SystemExit("The tests of isolation cannot be collected.")


def check(found: Sequence[Mutant]) -> None:
    """See that all tests that will be run pass without a change."""
    stages = {tuple(stage) for mutant in found for stage in stages_of(mutant)}
    for stage in {
        (file, "-k", _SQLITE) if choice and _SQLITE in choice[-1] else (file, *choice) for file, *choice in stages
    }:
        if _run(stage, None):
            raise SystemExit(f"These tests fail without any change: {' '.join(stage)}")


def main() -> int:
    """Run, and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", help="parts of paths")
    parser.add_argument("--list", action="store_true", help="only say what would be taken out")
    parser.add_argument("--unchecked", action="store_true", help="do not first run all tests without a change")
    options = parser.parse_args()
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    found = [
        mutant
        for path in sorted((ROOT / "citewell").rglob("*.py"))
        if not {"migrations", "testing", "extract"} & set(path.parts)
        for mutant in mutants(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))
        if not options.parts or any(part in mutant.path for part in options.parts)
    ]
    if options.list:
        print("\n".join(f"{mutant.path}:{mutant.line} {mutant.condition}" for mutant in found))
        return 0
    load(found)
    if not options.unchecked:
        check(found)
    survived = 0
    equivalent = 0
    for mutant in found:
        if mutant.key in EQUIVALENT:
            equivalent += 1
        elif not is_noticed(mutant):
            survived += 1
            print(f"unnoticed: {mutant.path}:{mutant.line} in {mutant.function}: {mutant.condition}", flush=True)
    killed = len(found) - survived - equivalent
    print(f"{len(found)} conditions: {killed} noticed, {equivalent} equivalent, {survived} unnoticed")
    return int(survived > 0)


if __name__ == "__main__":
    sys.exit(main())
