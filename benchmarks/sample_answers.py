"""Ten answers without a chat model to questions about `samples/`, to put beside those of another version (`benchmarks/answers.md`).

    python benchmarks/sample_answers.py > now.json
    git worktree add ../then be30256 && PYTHONPATH=../then python benchmarks/sample_answers.py > then.json

It uses only what every version of the library has. The questions were written before any version had answered them.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from citewell import Citewell

SAMPLES = Path(__file__).parent.parent / "samples"
QUESTIONS = (
    "Which loan has the highest outstanding amount?",
    "How many loans were disbursed in Tema?",
    "What is the average amount of loans in Kumasi?",
    "Which quarter had the highest expenses?",
    "What is the difference in amount between AC-2501 and AC-2503?",
    "When is a loan overdue?",
    "How old must a borrower be?",
    "Who may not borrow?",
    "How long does onboarding take and what does registering cost?",
    "anything about borrowers",
)


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch, Citewell(scratch) as cw:
        for path in sorted(SAMPLES.iterdir()):
            cw.add(path)
        answers = {question: cw.ask(question).text for question in QUESTIONS}
    json.dump(answers, sys.stdout, indent=1, ensure_ascii=False)


if __name__ == "__main__":
    main()
