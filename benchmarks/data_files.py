"""How fast are data files read, and in how much memory? Generated CSV files and a workbook through the pool of sandboxed parsers.

    python benchmarks/data_files.py [--rows 100000] [--megabytes 10 100] [--sheets 8] [--sheet-rows 10000]

seconds: wall clock from handing the file to the pool to its result; peak_mb: resident memory of the parser process at its highest.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import json
import random
import tempfile
import time
from collections.abc import Iterator
from os import getpid
from pathlib import Path

import xlsxwriter
from parsers import Parsers

from citewell.extract.sandbox import ParserLimits
from citewell.ingest.parsers import ParserPool
from citewell.types import ExtractOptions

HEADER = ("ID", "Customer", "Region", "Opened", "Amount", "Rate", "Note")
REGIONS = ("North", "South", "East", "West")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--megabytes", type=int, nargs="*", default=[10, 100])
    parser.add_argument("--sheets", type=int, default=8)
    parser.add_argument("--sheet-rows", type=int, default=10_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="citewell-bench-") as scratch:
        folder = Path(scratch)
        files = {f"CSV, {options.rows:,} rows": csv_of_rows(folder / "rows.csv", options.rows)}
        files |= {f"CSV, {size} MB": csv_of_size(folder / f"{size}.csv", size) for size in options.megabytes}
        files[f"XLSX, {options.sheets} sheets of {options.sheet_rows:,} rows"] = workbook(
            folder / "sheets.xlsx", options.sheets, options.sheet_rows
        )
        for name, path in files.items():
            print(
                json.dumps({"file": name, "mb": round(path.stat().st_size / 1e6, 1)} | asyncio.run(read(path, folder)))
            )


async def read(path: Path, folder: Path) -> dict[str, float]:
    """Read in a parser of its own, its template being warm."""
    async with ParserPool(1, limits=ParserLimits(scratch_bytes=8 << 30)) as pool:
        await pool.warm()
        watched = Parsers(getpid())
        started = time.perf_counter()
        summary = await pool.parse(path, path.name, ExtractOptions(max_output_bytes=4 << 30), folder / "scratch")
        seconds = time.perf_counter() - started
        return {"rows": summary.coverage.rows, "seconds": round(seconds, 1), "peak_mb": round(watched.peak_mb)}


def records(count: int) -> Iterator[tuple[object, ...]]:
    pick = random.Random(7)
    for number in range(count):
        opened = f"20{pick.randrange(10, 26)}-{pick.randrange(1, 13):02}-{pick.randrange(1, 29):02}"
        amount = round(pick.uniform(1_000, 900_000), 2)
        note = f"Account {pick.randrange(10**6)} of branch {pick.randrange(400)}"
        yield number, f"Customer {pick.randrange(10**5)}", pick.choice(REGIONS), opened, amount, pick.random(), note


def csv_of_rows(path: Path, count: int) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER)
        writer.writerows(records(count))
    return path


def csv_of_size(path: Path, megabytes: int) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER)
        for record in records(10**9):
            writer.writerow(record)
            if file.tell() >= megabytes * 1_000_000:
                return path
    return path


def workbook(path: Path, sheets: int, rows: int) -> Path:
    book = xlsxwriter.Workbook(str(path), {"constant_memory": True})
    for number in range(sheets):
        sheet = book.add_worksheet(f"Branch {number + 1}")
        for row, values in enumerate([HEADER, *records(rows)]):
            for column, value in enumerate(values):
                sheet.write(row, column, value)
    book.close()
    return path


if __name__ == "__main__":
    main()
