"""The wheels are the product: what `make dist` builds answers README's question in an environment that has nothing else of the repository."""

from __future__ import annotations

import os
import subprocess
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

pytestmark = [pytest.mark.full, pytest.mark.slow(60)]
ROOT = Path(__file__).resolve().parent.parent
MAX_MEGABYTES = {"citewell": 32, "citewell_multilingual": 76}
"""Of each wheel; package registries allow 100 by default."""
INSIDE = (
    "citewell/static/index.html",
    "citewell/models/all-MiniLM-L6-v2/tokenizer.json",
    "citewell/samples/Loan Policy.pdf",
)


def test_the_wheels_answer_from_a_folder_that_the_first_start_makes(tmp_path: Path) -> None:
    assert (ROOT / "citewell/static/index.html").is_file(), "the page is not built: make run builds it"
    subprocess.run(["scripts/dist.sh", ".venv", str(tmp_path / "dist")], cwd=ROOT, check=True, capture_output=True)
    built = {path.name.split("-")[0]: path for path in (tmp_path / "dist").glob("*.whl")}
    assert built.keys() == MAX_MEGABYTES.keys()
    assert len(list((tmp_path / "dist").glob("*.tar.gz"))) == 2
    for name, path in built.items():
        assert path.stat().st_size < MAX_MEGABYTES[name] * 1_000_000

    # An environment of its own with the wheels; of the tests' environment it sees the dependencies, but no editable package.
    place = tmp_path / "environment"
    venv.create(place, with_pip=False)
    (packages,) = (place / "lib").glob("python*/site-packages")
    for path in built.values():
        with zipfile.ZipFile(path) as wheel:
            if path.name.startswith("citewell-"):
                assert not set(INSIDE) - set(wheel.namelist())
            wheel.extractall(packages)
    (packages / "dependencies.pth").write_text(sysconfig.get_paths()["purelib"] + "\n", encoding="utf-8")
    environment = {k: v for k, v in os.environ.items() if not k.startswith("CITEWELL_") and k != "PYTHONPATH"}

    def citewell(*arguments: str) -> str:
        command = [str(place / "bin/python"), "-m", "citewell", *arguments, "--data", str(tmp_path / "data")]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert "indexed" in citewell("add", str(packages / "citewell/samples/Loan Policy.pdf"))
    answer = citewell("ask", "What's the maximum loan size for first-time borrowers?")
    assert "GHS 5,000. [1]" in answer
    assert "Loan Policy.pdf (p. 3)" in answer
