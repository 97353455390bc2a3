"""Fits what says whether a question is one for a table (`citewell/retrieve/preference.py`), and writes its weights.

    .venv/bin/python scripts/fit_table_preference.py

The questions are those of `training/`: one wording of each about tables, documents and passages in English, 7,366 in all. Embedding them takes a
minute on two idle cores, and the fit a second. Printed is the area under the curve for the domains that were left out, one in six.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from citewell.adapters.embedder.builtin import BuiltinEmbedder  # noqa: E402
from citewell.retrieve.preference import FILE  # noqa: E402

WORDINGS = ("plain", "plain2", "short", "polite", "indirect", "order", "nonnative", "casual")
REGULAR = 10.0
STEPS, PARTS = 12, 6
Floats = npt.NDArray[np.float64]


def questions() -> Iterator[tuple[str, bool, str]]:
    """A wording of each question, whether a table answers it, and its domain."""
    source = random.Random(1)
    for kind in ("passages", "documents", "tables"):
        for path in sorted((ROOT / "training" / kind).glob("*.jsonl")):
            for line in path.read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                for asked in (row.get("qs") or [row]) if row.get("lang", "en") == "en" else []:
                    if known := [name for name in WORDINGS if name in asked["q"]]:
                        text = asked["q"][source.choice(known)].replace("[", "").replace("]", "")
                        yield text, kind == "tables", row["d"]


def fitted(vectors: Floats, is_table: Floats) -> Floats:
    """The weights and, last, the bias of a logistic regression in which both kinds count the same (Newton's method)."""
    inputs = np.hstack([vectors, np.ones((len(vectors), 1))])
    weights = np.zeros(inputs.shape[1])
    balance = np.where(is_table > 0, 1 / is_table.mean(), 1 / (1 - is_table.mean())) / 2
    regular = np.diag([*[REGULAR] * vectors.shape[1], 0.0])
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-inputs @ weights))
        slope = inputs.T @ (balance * (chance - is_table)) + regular @ weights
        bend = (inputs * (balance * chance * (1 - chance))[:, None]).T @ inputs + regular
        weights -= np.linalg.solve(bend, slope)
    return weights


def area(scores: Floats, is_table: Floats) -> float:
    """The area under the curve."""
    ranks, count = np.argsort(np.argsort(scores)), is_table.sum()
    return float((ranks[is_table > 0].sum() - count * (count - 1) / 2) / (count * (len(is_table) - count)))


def main() -> None:
    rows = list(questions())
    embedder = BuiltinEmbedder.load()
    vectors = asyncio.run(embedder.embed([text for text, _, _ in rows], "query")).astype(np.float64)
    is_table = np.array([kind for _, kind, _ in rows], np.float64)
    held = np.array([int(hashlib.md5(domain.encode()).hexdigest(), 16) % PARTS == 0 for _, _, domain in rows])
    trial = fitted(vectors[~held], is_table[~held])
    print(f"{len(rows)} questions; area under the curve {area(vectors[held] @ trial[:-1], is_table[held]):.3f}")
    weights = fitted(vectors, is_table)
    out = {
        "embedder": str(embedder.fingerprint),
        "bias": round(float(weights[-1]), 4),
        "weights": [round(float(one), 4) for one in weights[:-1]],
    }
    FILE.write_text(json.dumps(out) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
