"""`python -m tests.transcripts [DOOR …]`: runs the doors that are named, or all, and writes docs/transcripts/DOOR.md."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

from tests.transcripts.doors import DOORS, PAGES


def main(names: list[str]) -> None:
    """Run them one after the other."""
    if unknown := set(names) - DOORS.keys():
        raise SystemExit(f"There is no door {', '.join(sorted(unknown))}. Doors: {', '.join(DOORS)}.")
    PAGES.mkdir(exist_ok=True)
    for name in names or DOORS:
        with tempfile.TemporaryDirectory() as folder:
            written = asyncio.run(DOORS[name](Path(folder))).markdown()
        (PAGES / f"{name}.md").write_text(written, encoding="utf-8")
        sys.stdout.write(f"docs/transcripts/{name}.md\n")


if __name__ == "__main__":
    main(sys.argv[1:])
