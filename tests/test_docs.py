"""The documentation builds, and no link in it or in README leads nowhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "benchmarks").glob("*.md"))]


def test_the_site_builds_without_a_dead_link(tmp_path: Path) -> None:
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    reference = (tmp_path / "site" / "reference.html").read_text(encoding="utf-8")
    assert 'id="citewell.library.Citewell"' in reference
    assert 'id="citewell.errors.NotFound"' in reference
    diagrams = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").count("```mermaid")
    architecture = (tmp_path / "site" / "architecture.html").read_text(encoding="utf-8")
    assert architecture.count('<pre class="mermaid">') == diagrams > 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_files_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?://|mailto:|#)([^)#\s]+)", page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []
