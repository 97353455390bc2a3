"""A code is turned back into the error it names, wherever one came from; what users of the package need stands at its top."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import citewell
from citewell import errors
from citewell.errors import CitewellError, ExtractionError, from_code, in_dollars
from citewell.features.http import error_body, status_of

_KINDS = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, CitewellError) and "code" in vars(kind)
]


@pytest.mark.parametrize("kind", _KINDS)
def test_every_error_comes_back_as_it_was(kind: type[CitewellError]) -> None:
    error = kind("Something to say.", reason="none", message_id="m")
    again = from_code(**error_body(error))
    assert type(again) is kind
    assert error_body(again) == error_body(error)
    assert status_of(again) == status_of(error)
    assert str(again) == "Something to say."


@pytest.mark.parametrize("kind", [errors.RateLimited, errors.ProviderRateLimited])
def test_how_long_to_wait_comes_back_too(kind: type[errors.RateLimited | errors.ProviderRateLimited]) -> None:
    again = from_code(kind.code, "Wait.", {"retry_after": 12.5})
    assert isinstance(again, kind)
    assert again.retry_after == 12.5
    odd = from_code(kind.code, "Wait.", {"retry_after": "soon", "message": "x", "self": 1})
    assert isinstance(odd, kind)
    assert odd.retry_after in (None, 1.0)


def test_codes_are_not_shared() -> None:
    codes = [kind.code for kind in _KINDS]
    assert len(codes) == len(set(codes))


def test_a_code_of_another_version_is_kept() -> None:
    error = from_code("brand_new", "From a newer server.", {"a": 1})
    assert (type(error), error.code, error.message, error.details) == (
        CitewellError,
        "brand_new",
        "From a newer server.",
        {"a": 1},
    )
    assert CitewellError.code == "internal"


def test_only_kinds_that_are_meant_are_made() -> None:
    error = from_code("not_found", "No.", among=ExtractionError)
    assert (type(error), error.code) == (ExtractionError, "not_found")


def test_everything_a_user_needs_is_at_the_top_of_the_package() -> None:
    assert {kind.__name__ for kind in _KINDS} | {
        "Answer",
        "AnswerStream",
        "AsyncAnswerStream",
        "AsyncCitewell",
        "Citation",
        "Citewell",
        "Hit",
        "RerankLimits",
        "Resource",
    } == set(citewell.__all__)
    for name in citewell.__all__:
        assert getattr(citewell, name).__name__ == name
    assert set(citewell.__all__) <= set(dir(citewell))
    assert citewell.ProviderRateLimited is errors.ProviderRateLimited
    with pytest.raises(AttributeError, match="Nonsense"):
        citewell.Nonsense  # noqa: B018  # pyright: ignore[reportAttributeAccessIssue]


# Signals between neighbouring functions, each caught by the module that asks for it; none reaches a user as it is.
_SIGNALS = {
    "citewell/agent/tables/run/engine.py": {"UnusableTable"},  # the answer goes on without the table, and says so
    # what a call of the Bot API comes to: nobody is there, nothing is there, try later, or not like this
    "citewell/channels/telegram/calls.py": {"BotBlocked", "MessageGone", "RefusedCall", "TelegramAway"},
    "citewell/extract/formats/tabular/json_stream.py": {"Damaged"},  # where a stream of records stops being JSON
    "citewell/features/auth/jose.py": {"InvalidTokenError"},  # no session, or a 401 by its reader
    "citewell/features/identities/openid.py": {"_UnknownKeyError"},  # the provider's keys are fetched once more
    "citewell/features/identities/service.py": {"_NotLetInError"},  # the page of sign-in says why
    "citewell/ingest/parser_template.py": {"TemplateDiedError"},  # the template process is started again
    "citewell/doctor/probing.py": {"_NotFetchedError"},  # a state of the doctor's
    "citewell/client.py": {"SilentServer"},  # a command says so in a line of its own
    "citewell/storage/database.py": {"DatabaseUnusable"},  # composition says which setting names the database
}


def _exceptions(tree: ast.Module) -> set[str]:
    """The classes of a module that are exceptions, as far as their bases' names tell."""
    ours = {name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, CitewellError)}
    return {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        and any(base in ours or base.endswith(("Error", "Exception")) for base in map(ast.unparse, node.bases))
    }


def test_errors_are_defined_in_one_tree() -> None:
    root = Path(citewell.__file__).parent
    defined = {
        path.relative_to(root.parent).as_posix(): found
        for path in root.rglob("*.py")
        if path.name != "errors.py" and (found := _exceptions(ast.parse(path.read_text(encoding="utf-8"))))
    }
    assert defined == _SIGNALS
    assert _exceptions(ast.parse("class Wrong(ProviderError): ...\nclass Odd(ValueError): ...")) == {"Wrong", "Odd"}


def test_importing_the_package_imports_nothing_else_of_it() -> None:
    code = "import sys, citewell; print(sorted(m for m in sys.modules if m.startswith(('citewell', 'numpy', 'httpx'))))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "['citewell']"


@pytest.mark.parametrize(
    ("amount", "shown"),
    [
        (0.0, "0.00"),
        (12.0, "12.00"),
        (1_234.5, "1,234.50"),
        (0.5, "0.50"),
        (0.034, "0.034"),
        (1e-05, "0.00001"),
        (0.00123, "0.0012"),
    ],
)
def test_a_small_amount_of_money_is_not_nothing(amount: float, shown: str) -> None:
    assert in_dollars(amount) == shown
