"""Names from uploads and archives, made safe to show."""

from __future__ import annotations

import pytest

from citewell.ingest.names import clean_path


@pytest.mark.parametrize(
    ("path", "clean"),
    [
        ("a/report.txt", "a/report.txt"),
        ("a\\b/report.txt", "a/b/report.txt"),
        ("../../etc/passwd", "etc/passwd"),
        ("/a//./b.txt", "a/b.txt"),
        ("a\x00/b\u202e.txt", "a/b.txt"),
        ("cafe\u0301/x", "caf\u00e9/x"),
        ("..", ""),
        ("a/" * 300, ""),
    ],
)
def test_a_path_in_an_archive_keeps_its_folders_and_nothing_that_leads_out(path: str, clean: str) -> None:
    assert clean_path(path) == clean
