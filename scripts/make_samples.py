"""Writes `samples/`: a small founder's folder, the same bytes on every run. `--check` only compares it with what stands there."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from sample_files import finance_sheet, growth_plan, loan_policy, pitch_deck, program_handbook
from sample_files.office import same_content

SAMPLES = Path(__file__).resolve().parent.parent / "samples"

WRITERS: dict[str, Callable[[Path], None]] = {
    "Loan Policy.pdf": loan_policy.write,
    "Program Handbook.pdf": program_handbook.write,
    "Finance Sheet.xlsx": finance_sheet.write,
    "Growth Plan.docx": growth_plan.write,
    "Pitch Deck.pptx": pitch_deck.write,
}


def write_all(folder: Path) -> list[Path]:
    """Write every sample to `folder` and return the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / name for name in WRITERS]
    for path in paths:
        WRITERS[path.name](path)
    return paths


def stale(folder: Path = SAMPLES) -> list[str]:
    """Names of the samples in `folder` that are missing or differ from what this script writes."""
    with tempfile.TemporaryDirectory() as scratch:
        fresh = write_all(Path(scratch))
        return [path.name for path in fresh if not same_content(path, folder / path.name)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    if parser.parse_args().check:
        differing = stale()
        for name in differing:
            print(f"samples/{name} differs from what scripts/make_samples.py writes; run `make samples`.")
        return 1 if differing else 0
    for path in write_all(SAMPLES):
        print(f"{path.stat().st_size:>9,}  {path.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
