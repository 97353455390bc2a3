"""The dashboard and the alert rules name only metrics that a server has, with labels that these have."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from citewell.composition import open_services
from citewell.settings import load_settings
from citewell.types import Usage

MONITORING = Path(__file__).resolve().parent.parent / "deploy" / "monitoring"
_METRIC = re.compile(r"\bcitewell_\w+")
_LABELLED = re.compile(r"\b(citewell_\w+)\{([^}]*)\}")
_GROUPED = re.compile(r"\bby \(([\w, ]+)\)")
_BY_PROMETHEUS = {"instance", "job", "le"}


def _expressions() -> list[str]:
    rules = yaml.safe_load((MONITORING / "alerts.yaml").read_text("utf-8"))
    panels: list[dict[str, Any]] = json.loads((MONITORING / "grafana.json").read_text("utf-8"))["panels"]
    alerts = [rule["expr"] for group in rules["groups"] for rule in group["rules"]]
    return alerts + [target["expr"] for panel in panels for target in panel["targets"]]


async def _metrics(tmp_path: Path) -> dict[str, set[str]]:
    """The labels of each metric of a server that has answered a request, failed at a file, and spent tokens."""
    async with open_services(load_settings(data=tmp_path / "data")) as services:
        services.health.observe("GET", "/search", 200, 0.1)
        spent = Usage(kind="chat", provider="openai", model="m", input_tokens=1, output_tokens=1, units=1, cost=0.1)
        await services.usage.usage.add(services.local_owner, [spent], at=time.time() - 60)
        broken = tmp_path / "broken.pdf"
        broken.write_bytes(b"%PDF-1.7 and nothing else")
        await services.resources.add_file(services.local_owner, broken)
        await services.workers.drain()
        text = (await services.health.metrics()).decode()
    found: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found.setdefault(sample.name, set()).update(sample.labels)
    return found


async def test_every_metric_of_the_dashboard_and_the_alerts_exists(tmp_path: Path) -> None:
    metrics = await _metrics(tmp_path)
    used = {name for expression in _expressions() for name in _METRIC.findall(expression)}
    assert used <= metrics.keys()
    assert "citewell_cost_total" in used
    for expression in _expressions():
        labels = {label for name in _METRIC.findall(expression) for label in metrics[name]} | _BY_PROMETHEUS
        for name, matchers in _LABELLED.findall(expression):
            assert set(re.findall(r"(\w+)\s*[=!]", matchers)) <= metrics[name], expression
        for group in _GROUPED.findall(expression):
            assert set(group.split(", ")) <= labels, expression


async def test_what_the_ledger_holds_is_counted_once(tmp_path: Path) -> None:
    async with open_services(load_settings(data=tmp_path / "data")) as services:
        spent = Usage(kind="chat", provider="openai", model="m", input_tokens=7, output_tokens=1, units=1, cost=0.5)
        for _ in range(2):
            await services.usage.usage.add(services.local_owner, [spent], at=time.time() - 60)
            await services.health.metrics()
        text = (await services.health.metrics()).decode()
    values = {
        (sample.name, sample.labels.get("direction")): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.labels.get("model") == "m"
    }
    assert values["citewell_tokens_total", "input"] == pytest.approx(14)
    assert values["citewell_cost_total", None] == pytest.approx(1.0)
