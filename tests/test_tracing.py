"""Traces: off by default, joined over processes by the file, with the GenAI conventions, and without anybody's words. Logs as JSON."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from opentelemetry.sdk import trace as sdk
from opentelemetry.trace import SpanContext

from citewell.composition import open_services
from citewell.errors import ConfigurationError
from citewell.settings import load_settings
from citewell.system import tracing
from citewell.system.console import JsonFormatter
from citewell.types import Scope, SearchRequest


@pytest.fixture
def spans() -> Iterator[list[sdk.ReadableSpan]]:
    """The spans that end."""

    class Collecting(sdk.SpanProcessor):
        def on_end(self, span: sdk.ReadableSpan) -> None:
            ended.append(span)

    ended: list[sdk.ReadableSpan] = []
    provider = sdk.TracerProvider(id_generator=tracing.id_generator())
    provider.add_span_processor(Collecting())
    tracing.use_provider(provider)
    yield ended
    tracing.stop_tracing()


def _of(span: sdk.ReadableSpan) -> SpanContext:
    assert span.context is not None
    return span.context


def _said(span: sdk.ReadableSpan, name: str) -> object:
    return (span.attributes or {})[name]


async def test_an_upload_its_stages_and_a_search_are_traced_without_words(
    tmp_path: Path, spans: list[sdk.ReadableSpan]
) -> None:
    note, page = tmp_path / "Zanzibar.txt", tmp_path / "Pemba.html"
    note.write_text("The zanzibar locker is opened with the code 4711.")
    page.write_text("<html><body><p>The pemba locker is opened with the code 1234.</p></body></html>")
    async with open_services(load_settings(data=tmp_path / "data")) as services:
        with tracing.span("POST", kind="server", headers={"traceparent": f"00-{'ab' * 16}-{'cd' * 8}-01"}):
            files = [await services.resources.add_file(services.local_owner, path) for path in (note, page)]
        await services.workers.drain()
        await services.search.search(
            SearchRequest(owner_id=services.local_owner, query="zanzibar code", scope=Scope(), top_k=3)
        )
    by_name: dict[str, list[sdk.ReadableSpan]] = {}
    for span in spans:
        by_name.setdefault(span.name, []).append(span)
    (request,) = by_name["POST"]
    assert f"{_of(request).trace_id:x}" == "ab" * 16  # the caller's trace goes on
    roots = {_said(span, "citewell.resource.id"): span for span in by_name["file"]}
    assert {link.context.span_id for span in roots.values() for link in span.links} == {_of(request).span_id}
    by_file = _of(roots[files[1].id])
    stages = [span for name in ("stage extract", "stage index") for span in by_name[name]]
    assert {(_of(span).trace_id, span.parent and span.parent.span_id) for span in stages} == {
        (by_file.trace_id, by_file.span_id)
    }
    (together,) = by_name["stage short"]
    assert [link.context.trace_id for link in together.links] == [_of(roots[files[0].id]).trace_id]
    (search,) = by_name["search"]
    legs = [span for name, some in by_name.items() if name.startswith("retrieve ") for span in some]
    assert {_of(span).trace_id for span in legs} == {_of(search).trace_id}
    calls = [span for name, some in by_name.items() if name.startswith("embeddings ") for span in some]
    assert all(_said(span, "gen_ai.operation.name") == "embeddings" for span in calls)
    assert all(_said(span, "gen_ai.provider.name") == "builtin" for span in calls)
    said = json.dumps([[span.name, dict(span.attributes or {}), len(span.events)] for span in spans]).lower()
    assert not any(word in said for word in ("zanzibar", "pemba", "locker", "4711"))


def test_an_error_is_named_by_its_class_and_not_by_its_message(spans: list[sdk.ReadableSpan]) -> None:
    with pytest.raises(ValueError, match="secret"), tracing.span("stage"):
        raise ValueError("secret words of a file")
    assert spans[0].attributes == {"error.type": "ValueError"}
    assert not spans[0].status.is_ok
    assert not spans[0].events
    assert spans[0].status.description is None


def test_without_the_packages_the_setting_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "opentelemetry.sdk.trace.export", None)
    with pytest.raises(ConfigurationError, match=r"citewell\[telemetry\]"):
        tracing.start_tracing("http://127.0.0.1:4318", "citewell-server")


def test_a_log_line_is_an_object_with_the_ids_of_its_span(spans: list[sdk.ReadableSpan]) -> None:
    with tracing.span("stage"):
        record = logging.LogRecord("citewell", logging.INFO, __file__, 1, "read %d\nfiles", (3,), None)
        line = JsonFormatter().format(record)
    said = json.loads(line)
    assert "\n" not in line
    assert (said["level"], said["logger"], said["message"]) == ("INFO", "citewell", "read 3\nfiles")
    assert said["span_id"] == f"{_of(spans[0]).span_id:016x}"
