"""The TypeScript client: generated from the OpenAPI document, type-checked, and run in Node against a server."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.server.running import Server

pytestmark = [pytest.mark.full, pytest.mark.slow(30)]
ROOT = Path(__file__).resolve().parent.parent
CLIENT = ROOT / "clients" / "typescript"
MODULES = ROOT / "web" / "node_modules"
PROGRAM = """
import { Citewell, CitewellError } from "./dist/index.js";
const [url, token] = process.argv.slice(2);
const citewell = new Citewell({ baseUrl: url, token });
const note = await citewell.add(new Blob(["# Harbour\\n\\nThe harbour gate closes at half past nine.\\n"]), "Harbour.md");
const answer = await citewell.ask("When does the harbour gate close?");
const streamed = [];
for await (const line of citewell.stream("When does the harbour gate close?")) streamed.push(line);
const hits = await citewell.search("harbour gate", { top_k: 1 });
const refused = await citewell.resource("none").catch((error) => error);
console.log(JSON.stringify({
  status: note.status, answer: answer.answer, link: citewell.link(answer.citations[0]), found: hits.hits.length,
  streamed: streamed.map((line) => line.stream ?? "").join(""), last: Object.keys(streamed.at(-1)),
  refused: refused instanceof CitewellError && [refused.code, refused.status],
}));
"""


def test_it_is_generated_type_checked_and_answers(server: Server, tmp_path: Path) -> None:
    node = shutil.which("node")
    assert node is not None
    assert MODULES.is_dir(), (
        "openapi-typescript and tsc are those of the browser interface: make web-unit installs them"
    )
    package = tmp_path / "client"
    shutil.copytree(CLIENT, package, ignore=shutil.ignore_patterns("node_modules", "dist"))
    (package / "node_modules").symlink_to(MODULES, target_is_directory=True)
    environment = os.environ | {"CITEWELL_PYTHON": sys.executable}

    def run(*command: str) -> str:
        done = subprocess.run(command, cwd=package, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run(node, "scripts/generate.mjs")
    run(node, "node_modules/typescript/bin/tsc")
    (package / "program.mjs").write_text(PROGRAM, encoding="utf-8")
    token = server.client.headers["Authorization"].removeprefix("Bearer ")
    said = json.loads(run(node, "program.mjs", server.url, token))
    assert said["status"] == "indexed"
    assert "half past nine" in said["answer"]
    assert said["streamed"] == said["answer"]
    assert (said["last"], said["found"], said["refused"]) == (["done"], 1, ["not_found", 404])
    assert server.client.get(
        said["link"].replace("/library/", "/resources/").replace("?passage=", "/chunks/")
    ).is_success
