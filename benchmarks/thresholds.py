"""How well scores tell "nothing relevant" apart: ROC over turns of conversations that a library can and cannot answer.

usage: .venv/bin/python benchmarks/thresholds.py SET TURNS.jsonl [--rerank] [--output FILE]
SET is a folder in the layout of BEIR; a turn is {"last_user", "history", "expected_behaviour"}. Follow-ups are made standalone first.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import report
import sets
from conversations import read_lines, standalone, thread

from citewell import Citewell
from citewell.types import Hit

ANSWERABLE = {"retrieve_and_answer": True, "retrieve_and_answer_partially": True, "retrieve_then_refuse": False}
HEADER = ("Score of the best hit", "AUC", "95 %", "Threshold", "Answerable kept", "Unanswerable refused")
KEPT = (0.99, 0.95, 0.90)
_RESAMPLES = 2_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", type=Path)
    parser.add_argument("turns", type=Path)
    parser.add_argument(
        "--rerank", action="store_true", help="the built-in reranker's scores too, which takes far longer"
    )
    parser.add_argument("--output", type=Path, default=Path(__file__).resolve().parent / "results" / "thresholds.json")
    options = parser.parse_args()
    turns = [turn for turn in read_lines(options.turns) if turn["expected_behaviour"] in ANSWERABLE]
    answerable = np.array([ANSWERABLE[turn["expected_behaviour"]] for turn in turns])
    with tempfile.TemporaryDirectory() as scratch, Citewell(scratch) as citewell:
        citewell.add_texts(sets.load(options.set).records())
        seen = [scores_of(citewell, turn, options.rerank) for turn in turns]
    measured = [roc(name, np.array([one[name] for one in seen]), answerable) for name in seen[0]]
    print(f"{int(answerable.sum())} answerable turns, {int((~answerable).sum())} unanswerable")
    print(report.terminal(HEADER, [row for one in measured for row in rows(one)]))
    options.output.parent.mkdir(parents=True, exist_ok=True)
    result = {"answerable": int(answerable.sum()), "unanswerable": int((~answerable).sum()), "measured": measured}
    options.output.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def scores_of(citewell: Citewell, turn: Mapping[str, Any], rerank: bool) -> dict[str, float]:
    """The best of each score among ten hits; the reranker sees its usual twenty."""
    question = standalone(turn["last_user"], thread(turn["history"])).question
    plain = citewell.search(question)
    scores = {
        "dense (cosine)": best(plain, "dense"),
        "lexical (BM25)": best(plain, "lexical"),
        "fused": best(plain, "fused"),
    }
    if rerank:
        scores["rerank (late interaction)"] = best(citewell.search(question, rerank=True), "rerank")
    return scores


def best(hits: Sequence[Hit], score: str) -> float:
    return max((value for hit in hits if (value := getattr(hit.scores, score)) is not None), default=-1.0)


def roc(name: str, scores: np.ndarray, answerable: np.ndarray) -> dict[str, Any]:
    """The curve, the area under it with a bootstrap interval, and the thresholds that keep given shares of what is answerable."""
    draw = np.random.default_rng(0)
    resampled = []
    for _ in range(_RESAMPLES):
        chosen = draw.integers(0, len(scores), len(scores))
        if 0 < answerable[chosen].sum() < len(chosen):
            resampled.append(area(scores[chosen], answerable[chosen]))
    low, high = np.percentile(resampled, [2.5, 97.5])
    points = []
    for share in KEPT:
        threshold = float(np.quantile(scores[answerable], 1 - share))
        refused = float(np.mean(scores[~answerable] < threshold))
        points.append(
            {"threshold": threshold, "kept": float(np.mean(scores[answerable] >= threshold)), "refused": refused}
        )
    return {
        "score": name,
        "auc": area(scores, answerable),
        "low": float(low),
        "high": float(high),
        "points": points,
        "curve": curve(scores, answerable),
    }


def area(scores: np.ndarray, answerable: np.ndarray) -> float:
    """The chance that an answerable turn scores higher than an unanswerable one; equal scores count half."""
    good, bad = scores[answerable][:, None], scores[~answerable][None, :]
    return float(np.mean((good > bad) + 0.5 * (good == bad)))


def curve(scores: np.ndarray, answerable: np.ndarray) -> list[tuple[float, float]]:
    """(share of unanswerable turns let through, share of answerable turns kept) at twenty thresholds."""
    cuts = np.quantile(scores, np.linspace(0, 1, 21))
    return [(float(np.mean(scores[~answerable] >= cut)), float(np.mean(scores[answerable] >= cut))) for cut in cuts]


def rows(one: Mapping[str, Any]) -> list[tuple[str, ...]]:
    return [
        (
            one["score"] if number == 0 else "",
            f"{one['auc']:.3f}" if number == 0 else "",
            f"{one['low']:.3f}-{one['high']:.3f}" if number == 0 else "",
            f"{point['threshold']:.3f}",
            f"{point['kept']:.3f}",
            f"{point['refused']:.3f}",
        )
        for number, point in enumerate(one["points"])
    ]


if __name__ == "__main__":
    main()
