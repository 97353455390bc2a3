"""Fuzzes the readers for as long as wanted: `python -m tests.extract.fuzz SECONDS [NAME…]`. Each failure is written to a file.

A failure is anything but an `ExtractionError`, a file that nothing declares, or a reading of more than ten seconds. A file that ends
the process stays behind as `running`, in the folder whose name is printed first. What it finds belongs into `tests/extract/documents/regressions/`, where a test keeps it fixed.
"""

from __future__ import annotations

import hashlib
import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

from tests.extract.documents.reading import read_or_refused
from tests.extract.documents.seeds import damaged, seeds
from tests.extract.pdf.drawing import tabled
from tests.extract.tabular.seeds import data_seeds

SLOW_SECONDS = 10.0


def main() -> None:
    end = time.monotonic() + float(sys.argv[1])
    files = {**seeds(), **data_seeds(), "a.pdf": tabled()}
    names = sys.argv[2:] or sorted(files)
    found = Path(tempfile.mkdtemp(prefix="fuzz-"))
    sys.stdout.write(f"{found}\n")
    sys.stdout.flush()
    runs: Counter[str] = Counter()
    failures: Counter[str] = Counter()
    seed = time.time_ns()
    while time.monotonic() < end:
        name = names[sum(runs.values()) % len(names)]
        seed += 1
        data = damaged(files[name], random.Random(seed))
        runs[name] += 1
        running = found / f"running{Path(name).suffix}"
        running.write_bytes(data)
        if failure := _failure(name, data):
            failures[f"{name}: {failure}"] += 1
            stem = f"{failure.split(':')[0].lower()}-{hashlib.sha256(data).hexdigest()[:8]}"
            (found / f"{stem}{Path(name).suffix}").write_bytes(data)
        running.unlink()
    lines = [
        f"{sum(runs.values()):,} damaged files of {len(names)} formats, {sum(failures.values())} failures in {found}"
    ]
    lines += [f"{count:6} {failure}" for failure, count in failures.most_common()]
    sys.stdout.write("\n".join(lines) + "\n")


def _failure(name: str, data: bytes) -> str | None:
    """What went wrong with one file, in a line."""
    started = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        try:
            read_or_refused(Path(folder), name, data)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            place = traceback.extract_tb(error.__traceback__)[-1]
            return f"{type(error).__name__}: {Path(place.filename).name}:{place.lineno}"
    return "Slow: more than ten seconds" if time.process_time() - started > SLOW_SECONDS else None


if __name__ == "__main__":
    main()
