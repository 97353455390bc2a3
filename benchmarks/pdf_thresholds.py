"""What moving a threshold of the PDF reader does: tables against ground truth, and elements by type, before and after.

    python benchmarks/pdf_thresholds.py FOLDER [--truth ground_truth.jsonl] [--only columns tables.stream.wall …]
        [--by 0.8 1.25 | --set columns.gutter=0.6 …] [--sample N]

FOLDER holds PDFs, which are read in this process without OCR; the truth is as for `tables.py`. Each threshold that --only names, or
all of a module, is multiplied by each factor in turn (whole numbers move by at least one), everything else as it is; --set
instead changes all that it names at once, and reads once. `docs/algorithms/pdf.md` says what each threshold is for.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import importlib
import json
import pkgutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import tables

from citewell.errors import ExtractionError
from citewell.extract.core.sink import ELEMENTS_FILE, Sink
from citewell.extract.formats import pdf
from citewell.types import ExtractOptions


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What one reading of all files gave: elements by type, a hash per file, and scores if there is a truth."""

    types: Counter[str]
    hashes: dict[str, str]
    scores: dict[str, float]

    def against(self, usual: Outcome) -> str:
        changed = sum(self.hashes[name] != usual.hashes[name] for name in self.hashes)
        moved = {kind: self.types[kind] - usual.types[kind] for kind in sorted(self.types | usual.types)}
        scores = " ".join(
            f"{name} {value:.4f} ({value - usual.scores[name]:+.4f})" for name, value in self.scores.items()
        )
        counts = " ".join(f"{kind} {by:+d}" for kind, by in moved.items() if by)
        return f"{scores or '-'} | files changed {changed} of {len(self.hashes)} | {counts or 'same counts'}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--truth", type=Path)
    parser.add_argument("--only", nargs="+", default=[], help="modules or module.field; all thresholds without it")
    parser.add_argument("--by", nargs="+", type=float, default=[0.8, 1.25])
    parser.add_argument("--set", nargs="+", default=[], dest="changes", help="module.field=value")
    parser.add_argument("--sample", type=int, default=1, help="read every N-th file")
    options = parser.parse_args()
    files = sorted(options.folder.rglob("*.pdf"))[:: options.sample]
    truth = _truth(options.truth, {file.name for file in files})
    usual = read(files, truth)
    print("as it is:", json.dumps(usual.scores), dict(usual.types.most_common()), flush=True)
    known = dict(thresholds())
    if options.changes:
        values = dict(change.split("=") for change in options.changes)
        with _moved({name: type(_value(known, name))(value) for name, value in values.items()}, known):
            print(" ".join(options.changes), "|", read(files, truth).against(usual))
        return
    for name in fields(known, options.only):
        value = _value(known, name)
        for factor in options.by:
            new = _scaled(value, factor)
            with _moved({name: new}, known):
                print(f"{name} {value:g} -> {new:g} |", read(files, truth).against(usual), flush=True)


def thresholds() -> Iterator[tuple[str, Any]]:
    """Module (within the reader) and its value of thresholds."""
    for found in pkgutil.walk_packages(pdf.__path__, f"{pdf.__name__}."):
        module = importlib.import_module(found.name)
        value = getattr(module, "THRESHOLDS", None)
        if value is None or type(value).__module__ != found.name:
            continue
        name = found.name.removeprefix(f"{pdf.__name__}.")
        if name == "tables.thresholds":  # one value with a section for each step
            for section in dataclasses.fields(value):
                yield f"tables.{section.name}", getattr(value, section.name)
        else:
            yield name, value


def fields(known: dict[str, Any], only: Sequence[str]) -> list[str]:
    names = [f"{module}.{field.name}" for module, value in known.items() for field in dataclasses.fields(value)]
    return [name for name in names if not only or name in only or name.rpartition(".")[0] in only]


def read(files: Sequence[Path], truth: tables.Pages) -> Outcome:
    """Every file through the reader as it is now."""
    types: Counter[str] = Counter()
    hashes: dict[str, str] = {}
    found: list[dict] = []
    for file in files:
        lines = _elements(file)
        hashes[str(file)] = hashlib.sha256(b"\n".join(lines)).hexdigest()
        for element in map(json.loads, lines):
            types[element["type"]] += 1
            if element["type"] == "table":
                grid = tables.TableGrid(element["html"]).rows
                found.append({"pdf": file.name, "page": element["locator"]["page"], "grid": grid})
    return Outcome(types, hashes, tables.score(truth, tables.by_page(found)) if truth else {})


def _elements(file: Path) -> list[bytes]:
    with tempfile.TemporaryDirectory(prefix="citewell-bench-") as scratch:
        with Sink(Path(scratch), ExtractOptions(ocr=False, extract_images=False)) as sink:
            try:
                pdf.extract(file, sink)
            except ExtractionError as error:
                return [json.dumps({"type": error.code}).encode()]
        return (Path(scratch) / ELEMENTS_FILE).read_bytes().splitlines()


@contextmanager
def _moved(values: dict[str, Any], known: dict[str, Any]) -> Iterator[None]:
    """The thresholds with these values inside the block; the reader's modules share the frozen objects that are changed here."""
    before = {name: _value(known, name) for name in values}
    try:
        _assign(values, known)
        yield
    finally:
        _assign(before, known)


def _assign(values: dict[str, Any], known: dict[str, Any]) -> None:
    for name, value in values.items():
        module, _, field = name.rpartition(".")
        object.__setattr__(known[module], field, value)


def _value(known: dict[str, Any], name: str) -> Any:
    module, _, field = name.rpartition(".")
    return getattr(known[module], field)


def _scaled(value: float, factor: float) -> float:
    if isinstance(value, float):
        return value * factor
    step = max(1, abs(round(value * (factor - 1))))
    return value + step if factor > 1 else value - step


def _truth(path: Path | None, names: set[str]) -> tables.Pages:
    if path is None:
        return {}
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return tables.by_page(line for line in lines if line["pdf"] in names)


if __name__ == "__main__":
    main()
