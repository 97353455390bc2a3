"""One owner uploads what used to hold every slot; another uploads a note: seconds until the note is ready, and until all is listed.

The first owner's files: a JSON of 20,000 records with a field of its own each, and a ZIP of 10,000 notes.

usage: .venv/bin/python benchmarks/fairness.py [--files 10000] [--until-read] [--output FILE]
"""

from __future__ import annotations

import argparse
import io
import json
import os
import secrets
import tempfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import report
import server

RESULTS = Path(__file__).resolve().parent / "results"
RECORDS = 20_000
NOTES_APART = 15.0
LOOK_SECONDS = 0.5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=10_000, help="notes in the ZIP")
    parser.add_argument("--until-read", action="store_true", help="go on until every note of the ZIP is indexed")
    parser.add_argument("--seconds", type=float, default=900, help="give up after this time")
    parser.add_argument("--output", type=Path, default=RESULTS / "fairness.json")
    options = parser.parse_args()
    secret = secrets.token_hex(32)
    os.environ["CITEWELL_AUTH_SECRET"] = secret
    with (
        tempfile.TemporaryDirectory(prefix="citewell-bench-") as scratch,
        server.serving(Path(scratch) / "data") as ours,
    ):
        first, second = (client(ours, secret, name) for name in ("first", "second"))
        result = measure(first, second, options)
    print(json.dumps(result, indent=1))
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps({"machine": report.machine()} | result, indent=1) + "\n", encoding="utf-8")


def measure(first: httpx.Client, second: httpx.Client, options: argparse.Namespace) -> dict[str, Any]:
    started = time.perf_counter()

    def seconds() -> float:
        return round(time.perf_counter() - started, 1)

    wide = upload(first, "wide.json", json.dumps([{f"key {n}": n} for n in range(RECORDS)]).encode())
    archive = upload(first, "notes.zip", zipped(options.files))
    found: dict[str, Any] = {"files": options.files, "notes_ready_s": []}
    notes: dict[str, float] = {}
    next_note = 0.0
    while seconds() < options.seconds:
        if seconds() >= next_note and "listed_s" not in found:
            notes[upload(second, f"note {len(notes)}.txt", f"The gate code of week {len(notes)} is 4711.".encode())] = (
                seconds()
            )
            next_note = seconds() + NOTES_APART
        for note in [note for note in notes if is_ready(second, note)]:
            found["notes_ready_s"].append(round(seconds() - notes.pop(note), 1))
        if "wide_s" not in found and is_ready(first, wide):
            found["wide_s"] = seconds()
        if "first_answer_s" not in found and answers(first, archive):
            found["first_answer_s"] = seconds()
        if "listed_s" not in found and is_listed(first, archive):
            found |= {"listed_s": seconds(), "listed": sum(1 for _ in children(first, archive))}
        read = options.until_read and "listed" in found and read_of(first, archive) == found["listed"]
        if read:
            found["read_s"] = seconds()
        if "listed_s" in found and "wide_s" in found and not notes and (read or not options.until_read):
            return found
        time.sleep(LOOK_SECONDS)
    return found | {"gave_up_s": seconds()}


def client(ours: server.Server, secret: str, name: str) -> httpx.Client:
    headers = server.bearer(secret, name)
    return httpx.Client(base_url=f"http://127.0.0.1:{ours.port}", headers=headers, timeout=120)


def zipped(count: int) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for n in range(count):
            archive.writestr(f"notes/note {n:05}.txt", f"Note {n}. Branch {n % 97} reported {n * 7} loans.\n")
    return file.getvalue()


def upload(client: httpx.Client, name: str, content: bytes) -> str:
    return client.post("/ingest", files={"file": (name, content)}).raise_for_status().json()["id"]


def is_ready(client: httpx.Client, resource_id: str) -> bool:
    return status(client, resource_id) in server.TERMINAL


def is_listed(client: httpx.Client, resource_id: str) -> bool:
    """Whether an archive was read, so that all that is in it is listed."""
    return status(client, resource_id) not in {"uploaded", "extracting"}


def status(client: httpx.Client, resource_id: str) -> str:
    answer = client.get("/resources", params={"id": resource_id, "fields": "summary"}).raise_for_status()
    return answer.json()["resources"][0]["status"]


def answers(client: httpx.Client, archive: str) -> bool:
    hits = (
        client.post("/search", json={"query": "loans reported by a branch", "top_k": 5})
        .raise_for_status()
        .json()["hits"]
    )
    return any(hit["filename"].startswith("note") for hit in hits)


def children(client: httpx.Client, archive: str, **more: str) -> Iterator[dict[str, Any]]:
    cursor: str | None = None
    while True:
        params = (
            {"parent_id": archive, "fields": "summary", "limit": "1000"} | more | ({"cursor": cursor} if cursor else {})
        )
        page = client.get("/resources", params=params).raise_for_status().json()
        yield from page["resources"]
        cursor = page["next_cursor"]
        if cursor is None:
            return


def read_of(client: httpx.Client, archive: str) -> int:
    time.sleep(5)
    return sum(1 for child in children(client, archive) if child["status"] in server.TERMINAL)


if __name__ == "__main__":
    main()
