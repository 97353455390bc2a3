"""Every setting is documented, under every name it goes by."""

from __future__ import annotations

import re
import traceback
from pathlib import Path

import pytest
from pydantic import AliasChoices

from citewell.errors import ConfigurationError
from citewell.setting_names import NOT_READ, READ_WITH, USED_WITH
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


# Every variable that the systems Citewell replaces read, and what it leads to here.
READ: list[tuple[dict[str, str], str, object]] = [
    ({"EMBEDDING_PROVIDER": "voyage"}, "embedding_provider", "voyage"),
    ({"EMBEDDINGS_PROVIDER": "openai"}, "embedding_provider", "openai"),
    ({"EMBEDDINGS_PROVIDER": "local"}, "embedding_provider", "builtin"),
    ({"EMBEDDING_MODEL": "voyage-3"}, "embedding_model", "voyage-3"),
    ({"EMBEDDING_PROVIDER": "openai", "OPENAI_EMBEDDING_MODEL": "m"}, "embedding_model", "m"),
    ({"EMBEDDING_PROVIDER": "pinecone", "PINECONE_EMBED_MODEL": "m"}, "embedding_model", "m"),
    (
        {"EMBEDDING_PROVIDER": "pinecone", "PINECONE_EMBED_MODEL": "m", "OPENAI_EMBEDDING_MODEL": "n"},
        "embedding_model",
        "m",
    ),
    ({"RERANK_ENABLED": "true"}, "rerank_enabled", True),
    ({"RERANK_MODEL": "rerank-2"}, "rerank_model", "rerank-2"),
    ({"RERANK_PROVIDER": "pinecone", "PINECONE_RERANK_MODEL": "bge"}, "rerank_model", "bge"),
    ({"RERANK_THRESHOLD": "0.1"}, "rerank_threshold", 0.1),
    ({"RERANK_TOP_N": "5"}, "rerank_top_n", 5),
    ({"RETRIEVAL_TOP_K": "5"}, "top_k", 5),
    ({"TOP_K": "7"}, "top_k", 7),
    ({"DEFAULT_TOP_K": "4"}, "top_k", 4),
    ({"RETRIEVAL_CANDIDATES": "20"}, "candidates", 20),
    ({"SCORE_THRESHOLD": "0.3"}, "score_threshold", 0.3),
    ({"SIMILARITY_THRESHOLD": "0.7"}, "score_threshold", 0.7),
    ({"CHUNK_SIZE": "512"}, "chunk_size", 512),
    ({"CHUNK_SIZE_TOKENS": "1000"}, "chunk_size", 1000),
    ({"CHUNK_OVERLAP": "64"}, "chunk_overlap", 64),
    ({"CHUNK_OVERLAP_TOKENS": "100"}, "chunk_overlap", 100),
    ({"QDRANT_HOST": "qdrant"}, "qdrant_address", "http://qdrant:6333"),
    ({"QDRANT_HOST": "10.0.0.5", "QDRANT_PORT": "7000"}, "qdrant_address", "http://10.0.0.5:7000"),
    ({"QDRANT_HOST": "::1"}, "qdrant_address", "http://[::1]:6333"),
    ({"QDRANT_HOST": "a", "QDRANT_URL": "https://b"}, "qdrant_address", "https://b"),
    ({"QDRANT_PORT": "7000"}, "qdrant_address", None),
    ({"QDRANT_COLLECTION_NAME": "files"}, "qdrant_collection", "files"),
    ({"PINECONE_INDEX_NAME": "rag"}, "pinecone_index", "rag"),
    ({"PINECONE_NAMESPACE": "documents"}, "pinecone_namespace", "documents"),
    ({"OPENAI_MODEL": "gpt-4o-mini"}, "chat_model", "gpt-4o-mini"),
    ({"LLM_PROVIDER": "anthropic", "OPENAI_MODEL": "gpt", "LLM_MODEL": "claude"}, "chat_model", "claude"),
    ({"MAX_TOKENS": "1024"}, "max_tokens", 1024),
    ({"TEMPERATURE": "0.2"}, "temperature", 0.2),
]


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """An environment and a folder without any of the names that are read."""
    monkeypatch.chdir(tmp_path)
    for name in [*(name for names in _names() for name in names), *NOT_READ]:
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


@pytest.mark.parametrize(("variables", "field", "value"), READ, ids=["+".join(case[0]) for case in READ])
def test_names_of_other_systems_are_read(
    bare: pytest.MonkeyPatch, variables: dict[str, str], field: str, value: object
) -> None:
    for name, given in variables.items():
        bare.setenv(name, given)
    assert getattr(load_settings(), field) == value


def test_keys_of_other_systems_are_read(bare: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "PINECONE_API_KEY", "VOYAGE_API_KEY", "ANTHROPIC_API_KEY", "QDRANT_API_KEY"):
        bare.setenv(name, f"the {name}")
        key = getattr(load_settings(), name.lower())
        assert key.get_secret_value() == f"the {name}"


@pytest.mark.parametrize(
    ("variables", "note"),
    [
        (
            {"OPENAI_EMBEDDING_MODEL": "m"},
            "OPENAI_EMBEDDING_MODEL is not used, as CITEWELL_EMBEDDING_PROVIDER is 'builtin'.",
        ),
        (
            {"LLM_PROVIDER": "anthropic", "OPENAI_MODEL": "m"},
            "OPENAI_MODEL is not used, as LLM_PROVIDER is 'anthropic'.",
        ),
        ({"QDRANT_HOST": "q"}, "QDRANT_HOST is not used, as CITEWELL_VECTOR_STORE is 'edge'."),
        ({"TEMPERATURE": "1"}, "TEMPERATURE is not used, as CITEWELL_CHAT_PROVIDER is 'none'."),
        ({"CHUNK_SIZE": "100", "CHUNK_SIZE_TOKENS": "200"}, "CHUNK_SIZE_TOKENS is not used, as CHUNK_SIZE is set."),
        ({"MAX_TOP_K": "20"}, "MAX_TOP_K is not read: a search returns at most 100 passages and a tool at most 30."),
    ],
    ids=["model", "chat model", "store", "temperature", "twice", "never"],
)
def test_what_has_no_effect_is_said(bare: pytest.MonkeyPatch, variables: dict[str, str], note: str) -> None:
    for name, given in variables.items():
        bare.setenv(name, given)
    assert load_settings().without_effect == (note,)


def test_nothing_set_is_nothing_to_say(bare: pytest.MonkeyPatch) -> None:
    bare.setenv("OPENAI_API_KEY", "k")
    bare.setenv("TOP_K", "10")
    bare.setenv("DEFAULT_TOP_K", "10")
    assert load_settings().without_effect == ()


def test_an_empty_value_of_another_tool_counts_as_not_set(bare: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_BASE_URL", "DATABASE_URL", "TOP_K", "OPENAI_API_KEY"):
        bare.setenv(name, "")
    settings = load_settings()
    assert (settings.chat_base_url, settings.database_url, settings.top_k, settings.openai_api_key) == (
        None,
        None,
        10,
        None,
    )


def test_the_tables_of_names_name_what_exists() -> None:
    aliases = {name for names in _names() for name in names}
    assert set(READ_WITH) <= aliases
    assert set(USED_WITH) <= set(Settings.model_fields)
    assert not set(NOT_READ) & aliases
    assert all(f"`{name}`" in DOCUMENT for name in NOT_READ)
    assert {field for field, _ in [*READ_WITH.values(), *USED_WITH.values()]} <= set(Settings.model_fields)


@pytest.mark.parametrize("name", ["CITEWELL_TEST_EXAMPLES", "CITEWELL_BENCH_CACHE", "CITEWELL_PYTHON"])
def test_variables_of_the_tools_around_it_are_left_alone(bare: pytest.MonkeyPatch, name: str) -> None:
    bare.setenv(name, "1")
    assert load_settings().without_effect == ()


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("CITEWELL_TOPK", "CITEWELL_TOP_K"),
        ("CITEWELL_API_KEY_OPENAI", "CITEWELL_OPENAI_API_KEY"),
        ("CITEWELL_SECRET", "CITEWELL_AUTH_SECRET"),
        ("CITEWELL_LOGLEVEL", "CITEWELL_LOG_LEVEL"),
        ("citewell_prot", "CITEWELL_PORT"),
    ],
)
def test_an_unknown_name_suggests_the_nearest_one(bare: pytest.MonkeyPatch, name: str, meant: str) -> None:
    bare.setenv(name, "1")
    with pytest.raises(ConfigurationError, match=rf"{name.upper()}.* Did you mean {meant}\?"):
        load_settings()


def test_a_name_like_no_other_points_to_the_list(bare: pytest.MonkeyPatch) -> None:
    bare.setenv("CITEWELL_ZZZZZZ", "1")
    with pytest.raises(ConfigurationError, match=r"CITEWELL_ZZZZZZ.*docs/configuration\.md"):
        load_settings()


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("postgres://u:p%40ss@h/d", "postgresql+asyncpg://u:p%40ss@h/d"),
        ("postgresql://u@h:5433/d?sslmode=require", "postgresql+asyncpg://u@h:5433/d?ssl=require"),
        ("postgresql:///d?host=/run/postgresql", "postgresql+asyncpg:///d?host=%2Frun%2Fpostgresql"),
        ("sqlite:////srv/citewell.db", "sqlite+aiosqlite:////srv/citewell.db"),
    ],
)
def test_database_urls_are_those_of_asynchronous_drivers(given: str, url: str) -> None:
    assert load_settings(database_url=given).sql_url == url


def test_a_problem_is_told_without_what_may_be_secret() -> None:
    word = "".join(("ge", "heim"))
    with pytest.raises(ConfigurationError, match=r"database_url.*auth_secret|auth_secret.*database_url") as raised:
        load_settings(database_url=f"postgresql://u:{word}@h:port/d", auth_secret=[word])
    assert word not in "".join(traceback.format_exception(raised.value))
