"""Every setting is documented, under every name it goes by."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic import AliasChoices

from citewell.errors import ConfigurationError
from citewell.settings import Settings, load_settings

DOCUMENT = (Path(__file__).parent.parent / "docs" / "configuration.md").read_text(encoding="utf-8")


def _names() -> list[list[str]]:
    return [
        [str(choice) for choice in field.validation_alias.choices]
        for field in Settings.model_fields.values()
        if isinstance(field.validation_alias, AliasChoices)
    ]


def test_every_setting_has_aliases() -> None:
    assert len(_names()) == len(Settings.model_fields)


@pytest.mark.parametrize("names", _names(), ids=lambda names: names[0])
def test_setting_is_documented_with_all_its_names(names: list[str]) -> None:
    row = next((line for line in DOCUMENT.splitlines() if line.startswith(f"| `{names[0]}` ")), "")
    assert set(re.findall(r"`([A-Z0-9_]+)`", row.split("|")[1] + row.split("|")[2]) if row else ()) == set(names)


def test_documentation_names_no_setting_that_does_not_exist() -> None:
    documented = set(re.findall(r"^\| `(CITEWELL_[A-Z0-9_]+)`", DOCUMENT, re.MULTILINE))
    assert documented == {names[0] for names in _names()}


def test_plain_names_of_the_field_work_and_ours_wins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RETRIEVAL_TOP_K", "7")
    monkeypatch.setenv("PORT", "1")
    assert load_settings().top_k == 7
    assert load_settings().port == 8000
    monkeypatch.setenv("CITEWELL_TOP_K", "9")
    assert load_settings().top_k == 9


def test_dotenv_is_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text("EMBEDDING_PROVIDER=voyage\nVOYAGE_API_KEY=hush-hush\n")
    settings = load_settings()
    assert settings.embedding_provider == "voyage"
    assert "hush" not in repr(settings)


def test_a_bad_value_names_its_setting(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CITEWELL_MAX_PAGES", "many")
    with pytest.raises(ConfigurationError, match="CITEWELL_MAX_PAGES"):
        load_settings()
