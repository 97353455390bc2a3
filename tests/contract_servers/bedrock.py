"""Amazon Bedrock's chat completions at its OpenAI-compatible endpoint: where they differ from OpenAI's.

A Bedrock API key as bearer token, errors in the form of AWS, models that take words only, and tool results without a name.
"""

from __future__ import annotations

import json
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tests.contract_servers.openai import OpenAIServer, order

SPECIFICATION = (
    "Amazon Bedrock User Guide of 2026: Chat Completions at bedrock-runtime, OpenAI models, errors of InvokeModel"
)
KEY = "bedrock-api-key-test"
MODEL = "openai.gpt-oss-20b-1:0"
_CONTEXT_CHARACTERS = 60_000
_EXCEPTIONS = {
    400: "ValidationException", 403: "AccessDeniedException", 404: "ResourceNotFoundException", 408: "ModelTimeoutException",
    424: "ModelErrorException", 429: "ThrottlingException", 500: "InternalServerException", 503: "ServiceUnavailableException",
}  # fmt: skip


class BedrockServer(OpenAIServer):
    """As `OpenAIServer`, without embeddings."""

    base = "/openai/v1"
    too_long = "Input is too long for requested model."

    def refusal(self, request: Request, body: dict[str, Any]) -> Response | None:
        """As the Bedrock Runtime."""
        if request.headers.get("authorization") != f"Bearer {KEY}":
            return self.failure(401, "")
        if body["model"] != MODEL:
            return self.failure(400, "The provided model identifier is invalid.")
        if len(json.dumps(body["messages"])) > _CONTEXT_CHARACTERS:
            return self.failure(400, self.too_long)
        for problem in [*order(body["messages"]), *_rules(body["messages"])]:
            return self.failure(400, problem)
        return None

    def failure(self, status: int, message: str, retry_after: str | None = None) -> Response:
        """A wrong key is a 403."""
        if status == 401:
            status, message = 403, "Authentication failed: Please make sure your API Key is valid."
        headers = {"x-amzn-errortype": _EXCEPTIONS.get(status, "InternalServerException")}
        if retry_after is not None:
            headers["retry-after"] = retry_after
        return JSONResponse({"message": message}, status, headers)


def _rules(messages: list[dict[str, Any]]) -> list[str]:
    for message in messages:
        content = message.get("content")
        if isinstance(content, list) and any(part["type"] != "text" for part in content):
            return ["Only text input is supported by this model."]
        if message["role"] == "tool" and "name" in message:
            return ["extraneous key [name] is not permitted"]
    return []
