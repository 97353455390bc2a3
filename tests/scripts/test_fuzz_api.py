"""What a generated request may be answered with is said by the document, the table of access and the role; all else is a finding."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from tests.scripts.loading import load_script
from tests.server.declared import ACCESS

OURS = {"error": {"code": "forbidden", "message": "No.", "details": {}}}


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """The script as a module."""
    return load_script("fuzz_api")


def _route(script: ModuleType, method: str, path: str, *documented: str) -> Any:
    named = path.replace(":path", "")
    document = {"paths": {named: {method.lower(): {"responses": dict.fromkeys(documented or ("200", "403"))}}}}
    return script.routes_of(document)[method, named]


def test_every_row_of_the_table_is_found_by_the_path_of_the_document(script: ModuleType) -> None:
    for (method, path), access in ACCESS.items():
        assert _route(script, method, path).access == access


@pytest.mark.parametrize(
    ("status", "body", "found"),
    [
        (200, None, None),
        (403, OURS, None),
        (500, OURS, "server error 500"),
        (503, OURS, "server error 503"),
        (404, OURS, "undocumented status 404"),
        (201, None, "undocumented status 201"),
        (403, {"detail": "No."}, "status 403 without our shape of an error"),
        (403, None, "status 403 without our shape of an error"),
    ],
)
def test_what_is_wrong_with_an_answer(script: ModuleType, status: int, body: Any, found: str | None) -> None:
    assert script.finding_of(_route(script, "GET", "/projects"), "owner", status, body) == found


@pytest.mark.parametrize(
    ("role", "method", "path", "may"),
    [
        ("nobody", "GET", "/projects", False),
        ("nobody", "GET", "/health", True),
        ("read key", "GET", "/projects", True),
        ("read key", "POST", "/chat", False),
        ("ask key", "POST", "/chat", True),
        ("write key", "DELETE", "/resources/{resource_id}", True),
        ("admin key", "GET", "/projects", False),
        ("viewer", "DELETE", "/resources/{resource_id}", False),
        ("viewer", "POST", "/projects", True),
        ("editor", "DELETE", "/resources/{resource_id}", True),
        ("editor", "DELETE", "/projects/{project_id}", False),
        ("service account", "PUT", "/projects/{project_id}/members/{member_id}", False),
        ("owner", "DELETE", "/projects/{project_id}", True),
    ],
)
def test_a_success_that_the_role_is_not_good_for_is_a_finding(
    script: ModuleType, role: str, method: str, path: str, may: bool
) -> None:
    route = _route(script, method, path)
    assert script.may(role, route) is may
    assert (script.finding_of(route, role, 200, None) is None) is may
