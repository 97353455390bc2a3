"""Questions about which files there are: told from questions about what is in them, and answered with the files in scope."""

from __future__ import annotations

from dataclasses import replace

from citewell.agent.whole.files import MAX_KNOWN, MAX_LISTED, files_in_words
from citewell.agent.whole.step import NOTHING_IN_SCOPE
from citewell.types import Scope
from tests.agent.test_whole import HANDBOOK, POLICY, ask, shelf


async def test_the_files_in_scope_are_the_answer() -> None:
    answer = (await ask(shelf(), "Which documents have I uploaded?", Scope(resource_ids=("p",)))).answer
    assert (answer.text, answer.answered, answer.citations) == ("There is 1 file here:\n- Loan Policy.pdf", True, ())
    nothing = (await ask(shelf(), "Which documents have I uploaded?", Scope(resource_ids=()))).answer
    assert (nothing.text, nothing.answered) == (NOTHING_IN_SCOPE, False)


def test_a_file_that_was_not_read_says_why_and_a_name_is_no_markup() -> None:
    failed = replace(HANDBOOK, filename="Notes [1] <b>.pdf", status="failed", note="It is encrypted.")
    said = files_in_words([POLICY, failed])
    assert said.splitlines()[:2] == ["There are 2 files here:", "- Loan Policy.pdf"]
    assert "[1]" not in said
    assert "(not read: It is encrypted.)" in said
    assert files_in_words([POLICY]).startswith("There is 1 file here:")


def test_of_very_many_files_the_newest_are_named() -> None:
    many = files_in_words([POLICY] * MAX_KNOWN)
    assert many.startswith("There are 500 files here, or more:")
    assert many.count("- Loan Policy.pdf") == MAX_LISTED
    assert many.endswith("The library lists all of them.")
