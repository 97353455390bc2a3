"""What a small text file costs, in CPU milliseconds by thread and process: `python small_files.py 1000`.

The files go through the library in this process, without HTTP. CPU time is compared, not wall time, and the last line embeds the same
passages and does nothing else in the same run, because both depend on what else the machine does. `--alone` reads each file alone.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from unittest import mock

import http_search
from process import cpu_seconds

from citewell.system.environment import compute_in_one_thread

compute_in_one_thread()

from citewell.composition import Services, open_services  # noqa: E402 - after the threads were limited
from citewell.ingest.short_files import ShortFiles  # noqa: E402
from citewell.ingest.workers import Workers  # noqa: E402
from citewell.settings import load_settings  # noqa: E402
from citewell.types import Job, Stage  # noqa: E402

_LOOK_SECONDS = 1.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int)
    parser.add_argument("--alone", action="store_true", help="read and index each file alone")
    options = parser.parse_args()

    async def alone(self: Workers, first: Job, _: ShortFiles) -> Sequence[Stage]:
        return await self._attempt(first)

    with tempfile.TemporaryDirectory(prefix="citewell-bench-") as folder:
        with mock.patch.object(Workers, "_together", alone if options.alone else Workers._together):
            asyncio.run(_measure(options.count, Path(folder)))
        command = [sys.executable, Path(__file__).with_name("embed_alone.py"), Path(folder) / "data"]
        cpu = float(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[1])
        print(f"{1000 * cpu / options.count:8.1f}  embedding their passages, and nothing else")


async def _measure(count: int, folder: Path) -> None:
    texts = http_search.sentences(seed=count)
    paths = [folder / f"note-{number}.txt" for number in range(count + 1)]
    for number, path in enumerate(paths):
        fact = f"Locker {number} is opened with the code {7919 * number % 100_003}."
        path.write_text("\n\n".join([*itertools.islice(texts, 4), fact]), encoding="utf-8")
    async with open_services(load_settings(data=folder / "data")) as services:
        await _added(services, paths[-1:])  # the models and the parsers' template are there
        before, whole, started = _threads(), cpu_seconds(os.getpid()), time.perf_counter()
        await _added(services, paths[:-1])
        seconds, used, after = time.perf_counter() - started, cpu_seconds(os.getpid()) - whole, _threads()
    after.subtract(before)
    print(f"{1000 * used / count:8.1f}  CPU ms per file in all; {1000 * seconds / count:.1f} ms of wall time")
    for name, spent in after.most_common():
        if spent > 0.0001 * count:
            print(f"{1000 * spent / count:8.1f}  threads “{name}”")
    print(f"{1000 * (used - after.total()) / count:8.1f}  parsers")


async def _added(services: Services, paths: Sequence[Path]) -> None:
    for path in paths:
        await services.resources.add_file(services.local_owner, path)
    while await services.resources.jobs.waiting():  # noqa: ASYNC110 - seldom, so that looking costs nothing
        await asyncio.sleep(_LOOK_SECONDS)


def _threads() -> Counter[str]:
    """CPU seconds of the living threads, by the part of the product that they work for."""
    spent: Counter[str] = Counter()
    for thread in threading.enumerate():
        name = thread.name.rpartition("_")[0] or thread.name
        spent[name] += time.clock_gettime(time.pthread_getcpuclockid(thread.ident or 0))
    return spent


if __name__ == "__main__":
    main()
