"""Makes a data folder with the version of Citewell that is checked out, and writes down what that version answered from it.

Run it before a release, and commit what it writes; `test_upgrade.py` opens every folder with the version under test:

    python -m tests.upgrade.make_folder NAME

An older version makes its folder with this file copied into a checkout of it.
"""

from __future__ import annotations

import json
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from tests.server.running import RunningServer

FOLDERS = Path(__file__).parent / "folders"
# Question, and what its answer must contain, in whatever words a version puts it.
ANSWERED = {
    "How many seagulls nest on the pier?": "Forty-two",
    "Who is the harbour master?": "Ama Boateng",
    "Which berth has the highest fee?": "South",
}
FOUND = ("How many seagulls nest on the pier?", "Who is the harbour master?", "Was a whale seen?")
NOTES = """# Harbour notes

The harbour master is Ama Boateng. She took office in March 2019.

## Wildlife

Forty-two seagulls nest on the pier, more than in any year before.

## Opening hours

The office is open from 8 to 17, and closed on Sundays.
"""
BERTHS = "Berth,Length,Fee\nNorth,12,140\nSouth,18,310\nEast,9,95\n"
RECORDS = [
    {"id": f"log-{n}", "title": f"Log {n}", "text": text, "metadata": {"tags": ["log"], "date": f"2024-0{n}-15"}}
    for n, text in enumerate(["The crane was painted.", "A whale was seen.", "The lamp was replaced."], 1)
]


def observe(server: RunningServer) -> dict[str, Any]:
    """What a user sees of a folder: files, their passages, what is found, threads with their citations."""
    client = server.client
    resources = sorted(server.resources(), key=lambda r: r["filename"])
    threads = client.get("/threads").json()["threads"]
    messages = [client.get(f"/threads/{thread['id']}").json()["messages"] for thread in threads]
    return {
        "resources": [
            {key: r[key] for key in ("id", "filename", "status", "chunk_count", "content_hash", "language")}
            for r in resources
        ],
        "projects": sorted(project["name"] for project in client.get("/projects").json()["projects"]),
        "originals": [r["filename"] for r in resources if client.get(f"/resources/{r['id']}/file").status_code == 200],
        "chunks": {r["filename"]: _chunks(server, r["id"]) for r in resources},
        "found": {question: _found(server, question) for question in FOUND},
        "threads": [
            [{"role": m["role"], "content": m["content"], "citations": _cited(m["citations"])} for m in some]
            for some in messages
        ],
    }


def _chunks(server: RunningServer, resource_id: str) -> list[dict[str, Any]]:
    chunks = server.client.get(f"/resources/{resource_id}/chunks", params={"limit": 1000}).json()["chunks"]
    return [{key: chunk[key] for key in ("id", "type", "text", "locator")} for chunk in chunks]


def _found(server: RunningServer, query: str) -> dict[str, Any]:
    # Scores may improve from version to version, and fewer passages may pass; the best one stays the best.
    hit = server.client.post("/search", json={"query": query}).json()["hits"][0]
    return {key: hit[key] for key in ("chunk_id", "filename", "text", "locator")}


def _cited(citations: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: citation[key] for key in ("n", "filename", "locator", "quote")} for citation in citations]


def _fill(server: RunningServer) -> None:
    server.add("Harbour notes.md", NOTES.encode())
    server.add("Berths.csv", BERTHS.encode(), project="Second")
    server.client.post("/records", json={"records": RECORDS}).raise_for_status()
    thread = server.client.post("/chat", json={"message": next(iter(ANSWERED))}).json()["thread_id"]
    server.client.post("/chat", json={"message": "And who is the harbour master?", "thread_id": thread})


def main() -> None:
    """Write `folders/NAME.tar.xz` and `folders/NAME.json`."""
    name = sys.argv[1]
    FOLDERS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        data = Path(work) / "data"
        with RunningServer(data) as server:
            _fill(server)
            seen = observe(server)
        with tarfile.open(FOLDERS / f"{name}.tar.xz", "w:xz") as archive:
            for path in sorted(data.iterdir()):
                if path.name not in {"lock", "scratch", "uploads", "server.json"}:
                    archive.add(path, arcname=path.name)
    (FOLDERS / f"{name}.json").write_text(json.dumps(seen, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
