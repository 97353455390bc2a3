"""Runs an n8n workflow's nodes one after the other, as n8n documents them; its expressions are evaluated by Node.

Only the nodes that the workflows in deploy/n8n have. It shows what they send and what comes back; it is not n8n.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

FLOWS = Path(__file__).resolve().parents[2] / "deploy" / "n8n"
_EXPRESSION = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_EVALUATE = """
const [context, ...expressions] = JSON.parse(require("fs").readFileSync(0, "utf8"));
const names = Object.keys(context);
const values = expressions.map((one) => new Function(...names, `return (${one})`)(...Object.values(context)));
process.stdout.write(JSON.stringify(values));
"""


@dataclass
class Workflow:
    """A workflow whose placeholders are filled in. airtable: what its Airtable node finds; tell: is told each call and its answer."""

    name: str
    address: str
    path: str
    secret: str
    tell: Callable[[str], None]
    airtable: Callable[[], list[dict[str, Any]]] = list
    _execution: int = field(default=0)

    def run(self, item: dict[str, Any]) -> dict[str, Any]:
        """The last node's output, from the item that its first node begins with."""
        flow = json.loads((FLOWS / f"{self.name}.json").read_text(encoding="utf-8"))
        nodes = {node["name"]: node for node in flow["nodes"]}
        current, self._execution = flow["nodes"][0]["name"], self._execution + 1
        while current in flow["connections"]:
            current = flow["connections"][current]["main"][0][0]["node"]
            item = self._step(nodes[current], item)
        return item

    def _step(self, node: dict[str, Any], item: dict[str, Any]) -> dict[str, Any]:
        parameters = node["parameters"]
        match node["type"].removeprefix("n8n-nodes-base."):
            case "airtable":
                return {"found": self.airtable()}
            case "aggregate":
                return {"data": item["found"]}
            case "set":
                given = parameters["assignments"]["assignments"]
                return {one["name"]: self._value(one["value"], item) for one in given}
            case "respondToWebhook":
                return json.loads(self._value(parameters["responseBody"], item))
            case "httpRequest":
                return self._call(parameters, item)
            case kind:
                raise ValueError(f"{kind} is not among the nodes of these workflows")

    def _call(self, parameters: dict[str, Any], item: dict[str, Any]) -> dict[str, Any]:
        """The node's request: its address with the trigger's id, its credential, its headers and its body."""
        planned = re.sub(r"^https://REPLACE-WITH-ADDRESS", "", parameters["url"])
        assert re.fullmatch(planned.replace("REPLACE-WITH-ID", "[^/]+"), self.path), self.path
        headers = {one["name"]: self._value(one["value"], item) for one in parameters["headerParameters"]["parameters"]}
        body = self._value(parameters["jsonBody"], item)
        self.tell(f"{parameters['method']} {planned}\nIdempotency-Key: {headers['Idempotency-Key']}\n{body}")
        headers |= {"Authorization": f"Bearer {self.secret}", "Content-Type": "application/json"}
        answered = httpx.request(
            parameters["method"], self.address + self.path, content=body, headers=headers, timeout=120
        )
        answered.raise_for_status()
        return answered.json()

    def _value(self, template: str, item: dict[str, Any]) -> Any:
        """A parameter's value: text as it is, or an expression; one expression alone keeps its type."""
        if not template.startswith("="):
            return template
        context = {"$json": item, "$execution": {"id": str(self._execution)}, "$itemIndex": 0}
        expressions = _EXPRESSION.findall(template)
        sent = json.dumps([context, *expressions])
        printed = subprocess.run(
            ["node", "-e", _EVALUATE], input=sent, capture_output=True, text=True, check=True
        ).stdout
        values = json.loads(printed)
        if len(values) == 1 and template.startswith("={{") and template.endswith("}}"):
            return values[0]
        remaining = iter(values)
        return _EXPRESSION.sub(lambda _: str(next(remaining)), template[1:])
