"""A model server of one's own, as Ollama and LM Studio are: where its chat completions differ from OpenAI's.

No key, fields that it does not know ignored, and a model that thinks aloud before it answers.
"""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tests.contract_servers.openai import OpenAIServer, order
from tests.contract_servers.script import Reply

SPECIFICATION = "Ollama 0.40, OpenAI compatibility"
MODEL = "qwen3:8b"
THOUGHT = "<think>\nThe user asks how many. 999?\n</think>\n\n"


class LocalServer(OpenAIServer):
    """As `OpenAIServer`."""

    too_long = "the request exceeds the available context size, try increasing it"

    def refusal(self, request: Request, body: dict[str, Any]) -> Response | None:
        """Any key will do."""
        if body["model"] != MODEL:
            return self.failure(404, f'model "{body["model"]}" not found, try pulling it first')
        for problem in order(body["messages"]):
            return self.failure(400, problem)
        return None

    def failure(self, status: int, message: str, retry_after: str | None = None) -> Response:
        """In OpenAI's shape."""
        headers = {"retry-after": retry_after} if retry_after else {}
        error = {"message": message, "type": "api_error", "param": None, "code": None}
        return JSONResponse({"error": error}, status, headers)

    def chunks(self, body: dict[str, Any], reply: Reply) -> list[dict[str, Any]]:
        """The thought comes first, in pieces that cut its tags."""
        events = super().chunks(body, reply)
        template = {key: events[0][key] for key in ("id", "object", "created", "model")}
        thought = [
            {**template, "choices": [{"index": 0, "delta": {"content": THOUGHT[i : i + 5]}, "finish_reason": None}]}
            for i in range(0, len(THOUGHT), 5)
        ]
        return [events[0], *thought, *events[1:]]
