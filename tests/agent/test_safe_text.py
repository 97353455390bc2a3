"""Words of files as answers show them: nothing in them links, loads, or reads as a citation."""

from __future__ import annotations

import ast
from pathlib import Path

from citewell.agent.citations.safe_text import safe_text

AGENT = Path(__file__).parents[2] / "citewell" / "agent"


def test_what_a_file_says_can_neither_cite_nor_link_nor_load() -> None:
    assert safe_text("see [3] and ![x](https://evil.test/p.png) <img src=x>") == (
        "see (3) and [x] (https: //evil.test/p.png) < img src=x>"
    )


def test_both_steps_are_taken_together_or_by_the_citation_checker() -> None:
    """Words that only one of them has made safe would be cited, or would load what they name."""
    callers = {
        path.relative_to(AGENT).as_posix()
        for path in AGENT.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("neutralise", "escape_markers")
    }
    assert callers == {"citations/safe_text.py", "citations/check.py", "citations/writer.py"}
