"""`citewell doctor`: what is configured, reachable or missing, and how to fix it."""

from __future__ import annotations

from citewell.client import call, connect
from citewell.doctor.examination import examine_configuration
from citewell.errors import CitewellError
from citewell.features.health.findings import Finding
from citewell.settings import Settings
from citewell.system import console
from citewell.system.folder import DataFolder

_MARKS = {"ok": "[green]ok   [/]", "note": "[yellow]note [/]", "error": "[red]error[/]"}


async def examine(settings: Settings) -> list[Finding]:
    """Check every part. Changes nothing, but opens the data folder."""
    return await examine_configuration(settings) + await _server(settings)


def print_findings(findings: list[Finding]) -> None:
    """Findings as lines, advice below them."""
    for finding in findings:
        console.out.print(f"{_MARKS[finding.level]} {finding.part:<12} {console.escape(finding.text)}")
        if finding.advice:
            console.out.print(f"                   [dim]{console.escape(finding.advice)}[/]")


async def _server(settings: Settings) -> list[Finding]:
    who = "in this process"
    try:
        holder = DataFolder(settings.data).holder()
        who = f"a server at {holder.url}" if holder and holder.url else who
        async with connect(settings) as client:
            response = await client.get("/ready")
            parts = (
                response.json()["parts"] if response.status_code in (200, 503) else await call(client, "GET", "/ready")
            )
    except CitewellError as error:
        return [Finding("services", "error", f"{who}: {error.message}")]
    return [
        Finding(name, "ok" if part["ok"] else "error", f"{part.get('note') or 'works'} ({part['ms']} ms, {who})")
        for name, part in parts.items()
    ]
