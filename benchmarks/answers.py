"""Answers without a chat model to questions whose answers are known, through the library as a user calls it.

    python benchmarks/answers.py tables FOLDER     # WikiTableQuestions: questions.jsonl (question, table, answer) beside its CSV files
    python benchmarks/answers.py short FILE.jsonl  # paragraphs (id, text) with questions and their short answers; all are searched
    python benchmarks/answers.py reports FOLDER    # FinanceBench: questions.jsonl (doc_name, question, answer, pages) and pdfs/

Each question about a table or a report is scoped to its file and asked in a thread of its own. Printed are

right:      the answer holds every known answer (numbers by value: 1,200 is 1200.0)
refused:    Citewell said that it has no answer
wrong:      neither of them
first:      the first sentence of the answer holds the known answer
words:      words of the answer without its markers, the median
page in 5:  one of the pages that hold the answer is among the first five passages of a search in the file
figure:     a figure of the known answer is in the answer

`--examples wrong` prints these answers. `--limit N` takes every so many questions, N in all.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import tempfile
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from citewell import Answer, Citewell
from citewell.text.sentences import sentences

_MARKER = re.compile(r"\s*\[\d+\]")
_NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d,]*(?:\.\d+)?")


@dataclass(frozen=True)
class Asked:
    """A question with its answer, and what is known of it."""

    question: str
    known: tuple[str, ...]
    answer: Answer

    @property
    def text(self) -> str:
        """The answer without its markers."""
        return _MARKER.sub("", self.answer.text)

    @property
    def outcome(self) -> str:
        """One of right, refused and wrong."""
        if not self.answer.answered:
            return "refused"
        return "right" if all(holds(self.text, known) for known in self.known) else "wrong"


def plain(text: str) -> str:
    """Lower case without accents, quotes and repeated spaces."""
    folded = unicodedata.normalize("NFKD", text.lower()).replace("–", "-").replace("—", "-")
    return " ".join("".join(c for c in folded if not unicodedata.combining(c) and c not in "\"'`’‘“”").split())


def numbers(text: str) -> set[float]:
    """The values of the numbers in a text."""
    return {float(found.replace(",", "")) for found in _NUMBER.findall(text)}


def holds(text: str, known: str) -> bool:
    """Whether a text holds a known answer: a number by its value, other texts as whole words."""
    wanted = plain(known)
    if (number := _NUMBER.fullmatch(wanted)) is not None:
        return float(number.group().replace(",", "")) in numbers(plain(text))
    return re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", plain(text)) is not None


def chosen(items: Sequence[Any], limit: int) -> Sequence[Any]:
    """`limit` of them, evenly spread; all for 0."""
    return items if not limit or limit >= len(items) else [items[i * len(items) // limit] for i in range(limit)]


def lines(path: Path) -> list[Any]:
    """The JSON values of a file, one per line."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def tables(cw: Citewell, folder: Path, limit: int) -> Iterator[Asked]:
    """Questions on the tables of WikiTableQuestions."""
    added: dict[str, str] = {}
    for row in chosen(lines(folder / "questions.jsonl"), limit):
        if row["table"] not in added:
            added[row["table"]] = cw.add(folder / row["table"]).id
        answer = cw.ask(row["question"], resource_ids=[added[row["table"]]])
        yield Asked(row["question"], tuple(row["answer"]), answer)


def short(cw: Citewell, path: Path, limit: int) -> Iterator[Asked]:
    """Questions on paragraphs, all of which are searched; any of the known answers will do."""
    rows = lines(path)
    cw.add_texts([{"id": row["id"], "text": row["text"]} for row in rows])
    for asked in chosen([asked for row in rows for asked in row["questions"]], limit):
        answer = cw.ask(asked["question"])
        held = next((known for known in asked["answers"] if holds(answer.text, known)), asked["answers"][0])
        yield Asked(asked["question"], (held,), answer)


def reports(cw: Citewell, folder: Path, limit: int) -> Iterator[tuple[Asked, bool]]:
    """Questions on reports, and whether a page that answers is among the first five passages."""
    added: dict[str, str] = {}
    for row in chosen(lines(folder / "questions.jsonl"), limit):
        if row["doc_name"] not in added:
            added[row["doc_name"]] = cw.add(folder / "pdfs" / f"{row['doc_name']}.pdf").id
        scope = [added[row["doc_name"]]]
        places = [hit.chunk.locator for hit in cw.search(row["question"], 5, resource_ids=scope)]
        pages = {page for place in places for page in (place.page, *place.pages)}
        asked = Asked(row["question"], (row["answer"],), cw.ask(row["question"], resource_ids=scope))
        yield asked, bool(pages & set(row["pages"]))


def summary(asked: Sequence[Asked]) -> dict[str, Any]:
    """Shares of the outcomes, and how the right answers look."""
    outcomes = Counter(one.outcome for one in asked)
    answered = [one for one in asked if one.answer.answered]
    first = [one for one in answered if all(holds(next(iter(sentences(one.text)), ""), known) for known in one.known)]
    return {
        "questions": len(asked),
        **{name: round(outcomes[name] / len(asked), 4) for name in ("right", "refused", "wrong")},
        "first": round(len(first) / len(asked), 4),
        "words": statistics.median(len(one.text.split()) for one in answered) if answered else 0,
    }


def of_reports(results: Iterable[tuple[Asked, bool]]) -> tuple[list[Asked], dict[str, Any]]:
    """The share of questions with a page in five, and with a figure of the known answer."""
    rows = list(results)
    asked = [one for one, _ in rows]
    found = [one for one in asked if one.answer.answered and (wanted := _figures(one)) and wanted & numbers(one.text)]
    with_figures = [one for one in asked if _figures(one)]
    return asked, {
        "questions": len(rows),
        "page in 5": round(sum(page for _, page in rows) / len(rows), 4),
        "figure": round(len(found) / max(1, len(with_figures)), 4),
        "with figures": len(with_figures),
        "refused": round(sum(not one.answer.answered for one in asked) / len(rows), 4),
    }


def _figures(one: Asked) -> set[float]:
    """The figures of a known answer, without years."""
    return {value for value in numbers(one.known[0]) if not (1990 <= value <= 2035 and value == int(value))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=("tables", "short", "reports"))
    parser.add_argument("path", type=Path)
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--examples", choices=("right", "refused", "wrong"))
    arguments = parser.parse_args()
    read: dict[str, Callable[[Citewell, Path, int], Iterator[Asked]]] = {"tables": tables, "short": short}
    with tempfile.TemporaryDirectory() as scratch, Citewell(scratch) as cw:
        if arguments.kind == "reports":
            asked, figures = of_reports(reports(cw, arguments.path, arguments.limit))
        else:
            asked = list(read[arguments.kind](cw, arguments.path, arguments.limit))
            figures = summary(asked)
    for one in asked:
        if one.outcome == arguments.examples:
            print(
                f"{one.question}\n  known  {' | '.join(one.known)}\n  answer {' '.join(one.answer.text.split())[:400]}\n"
            )
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
