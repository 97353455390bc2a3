"""Routes whose errors are in OpenAI's shape: `{"error": {"message", "type", "param", "code"}}`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from fastapi.exceptions import HTTPException, RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import create_model
from starlette.requests import Request
from starlette.responses import Response
from typing_extensions import TypedDict

from citewell.errors import CitewellError
from citewell.features.http import ERROR_RESPONSES, error_headers, error_responses, status_of
from citewell.features.json_bodies import SoundRoute

_MAX_PROBLEMS = 10
_TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}


class OpenAIErrorBody(TypedDict):
    """An error: `code` is Citewell's, `type` is OpenAI's; `param` names the invalid field, if any."""

    message: str
    type: str
    param: str | None
    code: str


OpenAIErrorResponse = create_model(
    "OpenAIErrorResponse", __doc__="The shape of every error under `/v1`.", error=OpenAIErrorBody
)
# A body that is too large or slow is refused before the route is known, with Citewell's error shape.
OPENAI_ERRORS = error_responses(OpenAIErrorResponse) | {status: ERROR_RESPONSES[status] for status in (408, 413)}


class OpenAIRoute(SoundRoute):
    """A route that returns every error in that shape."""

    def get_route_handler(self) -> Callable[[Request], Awaitable[Response]]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The handler, with Citewell's errors converted."""
        handler = super().get_route_handler()

        async def telling(request: Request) -> Response:
            try:
                return await handler(request)
            except CitewellError as error:
                return _response(error)
            except RequestValidationError as error:
                return _invalid(error)
            except HTTPException as error:
                return JSONResponse(body_of("invalid_request", str(error.detail), error.status_code), error.status_code)

        return telling


def body_of(code: str, message: str, status: int, param: str | None = None) -> dict[str, Any]:
    """The body of an error, in a response or in a stream."""
    kind = _TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error")
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def _response(error: CitewellError) -> JSONResponse:
    status = status_of(error)
    status = 400 if status == 422 else status  # OpenAI has one status for every body that it refuses
    return JSONResponse(body_of(error.code, error.message, status), status, error_headers(error))


def _invalid(error: RequestValidationError) -> JSONResponse:
    problems = error.errors()
    message = "; ".join(f"{'.'.join(map(str, p['loc'][1:]))}: {p['msg']}" for p in problems[:_MAX_PROBLEMS])
    param = str(problems[0]["loc"][1]) if problems and len(problems[0]["loc"]) > 1 else None
    return JSONResponse(body_of("invalid_request", message or "The request is not valid.", 400, param), 400)
