"""Generated requests over the whole OpenAPI document: no answer is a server error, and every error has our shape."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings

from tests.server.in_process import InProcessServer
from tests.server.running import Server

pytestmark = [pytest.mark.full, pytest.mark.slow(20)]

EXAMPLES = int(os.environ.get("CITEWELL_TEST_EXAMPLES", "20"))
_NOTHING_IS_TOO_SLOW: Any = list(HealthCheck)
_OURS = {"code", "message", "details"}
_OPENAI = {"message", "type", "param", "code"}


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of its own: generated requests delete and revoke what they find."""
    with InProcessServer(tmp_path_factory.mktemp("openapi") / "data") as running:
        running.add("text.txt", b"A few words to be found.")
        yield running


def test_no_request_makes_a_server_error(api: Server) -> None:
    schema = schemathesis.openapi.from_url(f"{api.url}/openapi.json")
    found: Any = schema.get_all_operations()
    operations = [operation.ok() for operation in found]
    assert len(operations) > 25
    for operation in operations:
        _attack(operation, api)


def _attack(operation: Any, api: Server) -> None:
    headers = {"Authorization": api.client.headers["authorization"]}
    # An address that no operation has is answered in our shape, wherever it lies.
    shapes = (_OPENAI, _OURS) if operation.path.startswith("/v1/") else (_OURS,)

    @given(case=operation.as_strategy())
    @settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=_NOTHING_IS_TOO_SLOW)
    def attack(case: Any) -> None:
        response = case.call(headers=headers, timeout=60)
        assert response.status_code < 500, f"{operation.label}: {response.text}"
        if response.status_code >= 400:
            assert set(response.json()["error"]) in shapes, operation.label

    attack()
