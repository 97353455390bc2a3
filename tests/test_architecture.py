"""docs/architecture.md agrees with the code: its glossary, its features, the modules that it names."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
GLOSSARY = dict(re.findall(r"^\| ([a-z -]+) \| `([\w.]+)` \|", PAGE, re.MULTILINE))


@pytest.mark.parametrize("term", GLOSSARY)
def test_a_term_of_the_glossary_names_a_class(term: str) -> None:
    module, _, name = GLOSSARY[term].rpartition(".")
    assert isinstance(getattr(importlib.import_module(f"citewell.{module}"), name), type)


def test_a_term_means_one_thing() -> None:
    terms = re.findall(r"^\| ([a-z -]+) \| `[\w.]+` \|", PAGE, re.MULTILINE)
    assert len(terms) == len(set(terms)) == len(set(GLOSSARY.values()))


def test_every_feature_is_listed() -> None:
    listed = set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE))
    assert listed == {path.parent.name for path in (ROOT / "citewell/features").glob("*/__init__.py")}


def test_every_part_of_the_package_is_named() -> None:
    parts = {
        path.stem for path in (ROOT / "citewell").iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()
    }
    unnamed = {part for part in parts - {"__init__"} if not re.search(rf"\b{part}\b", PAGE)}
    assert unnamed == set()


def test_every_module_that_the_page_names_exists() -> None:
    named = set(re.findall(r"`([a-z_]+(?:/[a-z_]+)*(?:\.py|/))`", PAGE))
    package = ROOT / "citewell"
    missing = {name for name in named if not (ROOT / name).exists() and not any(package.glob(f"**/{name.rstrip('/')}"))}
    assert missing == set()
