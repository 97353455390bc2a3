"""What precedes the heading path of a file's passages: its name in words, its own title, or both."""

from __future__ import annotations

import pytest

from citewell.ingest.chunking import chunk_title


@pytest.mark.parametrize(
    ("filename", "title", "names"),
    [
        ("loan_policy.pdf", None, "loan policy"),
        ("loan_policy.pdf", "Loan Policy", "loan policy"),
        ("loan_policy.pdf", "The Loan Policy of the Society", "The Loan Policy of the Society"),
        ("HARBOUR_2024_annual.pdf", "Exhibit 99.1 Q4 ER", "HARBOUR 2024 annual > Exhibit 99.1 Q4 ER"),
        ("HARBOUR_2024_annual.pdf", "0000012345-24-000007", "HARBOUR 2024 annual"),
        ("20240113-0007.pdf", "Minutes of the meeting", "Minutes of the meeting"),
        ("20240113-0007.pdf", None, "20240113-0007"),
        ("贷款政策.pdf", "年度报告", "贷款政策 > 年度报告"),
    ],
)
def test_a_file_is_named_once_and_by_words(filename: str, title: str | None, names: str) -> None:
    assert chunk_title(filename, title) == names
