"""OpenTelemetry spans, joined over processes. Off until `start_tracing`; until then, a span costs a comparison.

Spans name things by id and count them; they never hold texts, file names, questions or answers.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from citewell.errors import ConfigurationError

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Span, SpanContext, Tracer

Attributes: TypeAlias = Mapping[str, str | int | float | bool]
Kind: TypeAlias = Literal["internal", "server", "client"]
FileOf: TypeAlias = tuple[str, int]
"""A version of a file, by the resource's id and the version."""

MODEL_PROVIDERS = {"azure": "azure.ai.openai", "bedrock": "aws.bedrock"}
"""Names of the GenAI semantic conventions for providers that Citewell names otherwise."""

_chosen: ContextVar[SpanContext | None] = ContextVar("citewell_chosen_span", default=None)


class OpenSpan:
    """A span in progress; does nothing while traces are off."""

    def __init__(self, span: Span | None = None) -> None:
        self._span = span

    def note(self, **attributes: str | int | float | bool) -> None:
        """Sets attributes; a double underscore in a name becomes a dot."""
        if self._span is not None:
            self._span.set_attributes({name.replace("__", "."): value for name, value in attributes.items()})

    def describe_request(self, method: str, route: str, status: int) -> None:
        """Names the span of an HTTP request by its route, and sets what the semantic conventions ask for."""
        if self._span is not None:
            self._span.update_name(f"{method} {route}")
            self.note(http__request__method=method, http__route=route, http__response__status_code=status)
            if status >= 500:
                self.failed(str(status))

    def failed(self, kind: str) -> None:
        """Marks the span as failed. kind: the error's class or code, never its text, which may quote a file."""
        if self._span is not None:
            from opentelemetry.trace import Status, StatusCode

            self._span.set_attribute("error.type", kind)
            self._span.set_status(Status(StatusCode.ERROR))

    def end(self) -> None:
        """Ends a span that `open_span` returned."""
        if self._span is not None:
            self._span.end()


class _Tracing:
    """The tracer, and what ends it."""

    tracer: Tracer | None = None
    provider: Any = None


_OFF = OpenSpan()
_on = _Tracing()


def start_tracing(url: str, service: str) -> None:
    """Sends spans to the OTLP/HTTP endpoint at `url`, as those of `service`, from now on.

    Raises `ConfigurationError` if the packages are not installed.
    """
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise ConfigurationError(
            f"CITEWELL_TRACES_URL needs the package {error.name!r}. Install it with: pip install 'citewell[telemetry]'"
        ) from error
    # It logs a traceback for each batch that cannot be sent.
    logging.getLogger("opentelemetry.exporter").setLevel(logging.CRITICAL)
    provider = TracerProvider(resource=Resource.create({"service.name": service}), id_generator=id_generator())
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(f"{url.rstrip('/')}/v1/traces")))
    use_provider(provider)


def use_provider(provider: Any) -> None:
    """Makes spans with this `TracerProvider`; for embedding Citewell into a program with traces of its own."""
    _on.provider, _on.tracer = provider, provider.get_tracer("citewell")


def stop_tracing() -> None:
    """Sends what is left, and turns traces off."""
    provider, _on.provider, _on.tracer = _on.provider, None, None
    if provider is not None:
        provider.shutdown()


@contextmanager
def span(
    name: str,
    attributes: Attributes | None = None,
    *,
    kind: Kind = "internal",
    of: FileOf | None = None,
    links: Sequence[FileOf] = (),
    headers: Mapping[str, str] | None = None,
) -> Generator[OpenSpan]:
    """A span around the block. An error that leaves the block marks it as failed.

    of:      belongs to the trace of this version of a file
    links:   versions of files that it is also about
    headers: of an HTTP request, whose trace it continues
    """
    if _on.tracer is None:
        yield _OFF
        return
    from opentelemetry.trace import use_span

    opened = _opened(_on.tracer, name, attributes, kind, _parent(of, headers), links)
    with use_span(opened, end_on_exit=True, record_exception=False, set_status_on_exception=False):
        spanning = OpenSpan(opened)
        try:
            yield spanning
        except BaseException as error:
            spanning.failed(type(error).__name__)
            raise


def open_span(name: str, attributes: Attributes, kind: Kind = "client") -> OpenSpan:
    """A span that its caller ends, for generators, which may be continued in another context."""
    if _on.tracer is None:
        return _OFF
    return OpenSpan(_opened(_on.tracer, name, attributes, kind, None, ()))


@contextmanager
def file_span(of: FileOf, attributes: Attributes) -> Generator[OpenSpan]:
    """The root span of a file's own trace, which every process that works on the file derives from its id.

    A link leads to the request that brought the file.
    """
    if _on.tracer is None:
        yield _OFF
        return
    from opentelemetry.context import Context
    from opentelemetry.trace import Link, get_current_span, use_span

    request = get_current_span().get_span_context()
    token = _chosen.set(_file_context(of))
    try:
        links = [Link(request)] if request.is_valid else []
        opened = _on.tracer.start_span("file", context=Context(), links=links, attributes=dict(attributes))
    finally:
        _chosen.reset(token)
    with use_span(opened, end_on_exit=True, record_exception=False):
        yield OpenSpan(opened)


def model_span_name(operation: str, provider: str, model: str) -> tuple[str, dict[str, str]]:
    """The name and attributes of a call to a model, by the GenAI semantic conventions."""
    said = {
        "gen_ai.operation.name": operation,
        "gen_ai.provider.name": MODEL_PROVIDERS.get(provider, provider),
        "gen_ai.request.model": model,
    }
    return f"{operation} {model}", said


def current_ids() -> dict[str, str]:
    """`trace_id` and `span_id` of the current span, for logs; empty outside one."""
    if _on.tracer is None:
        return {}
    from opentelemetry.trace import format_span_id, format_trace_id, get_current_span

    context = get_current_span().get_span_context()
    if not context.is_valid:
        return {}
    return {"trace_id": format_trace_id(context.trace_id), "span_id": format_span_id(context.span_id)}


def _opened(
    tracer: Tracer,
    name: str,
    attributes: Attributes | None,
    kind: Kind,
    parent: Context | None,
    links: Sequence[FileOf],
) -> Span:
    from opentelemetry.trace import Link, SpanKind

    return tracer.start_span(
        name,
        context=parent,
        kind=SpanKind[kind.upper()],
        attributes=dict(attributes or {}),
        links=[Link(_file_context(one)) for one in links],
    )


def _parent(of: FileOf | None, headers: Mapping[str, str] | None) -> Context | None:
    if of is not None:
        from opentelemetry.trace import NonRecordingSpan, set_span_in_context

        return set_span_in_context(NonRecordingSpan(_file_context(of)))
    if headers is not None:
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        return TraceContextTextMapPropagator().extract(headers)
    return None


def _file_context(of: FileOf) -> SpanContext:
    """The same for every process: what the ids are is arbitrary, as long as they differ between files."""
    from opentelemetry.trace import SpanContext, TraceFlags

    digest = hashlib.sha256(f"{of[0]}/{of[1]}".encode()).digest()
    trace_id, span_id = int.from_bytes(digest[:16]), int.from_bytes(digest[16:24])
    return SpanContext(trace_id, span_id, is_remote=True, trace_flags=TraceFlags(TraceFlags.SAMPLED))


def id_generator() -> Any:
    """An `IdGenerator` of random ids, except for the root span of a file; a provider given to `use_provider` needs it."""
    from opentelemetry.sdk.trace.id_generator import RandomIdGenerator

    class Ids(RandomIdGenerator):
        def generate_trace_id(self) -> int:
            chosen = _chosen.get()
            return super().generate_trace_id() if chosen is None else chosen.trace_id

        def generate_span_id(self) -> int:
            chosen = _chosen.get()
            return super().generate_span_id() if chosen is None else chosen.span_id

    return Ids()
