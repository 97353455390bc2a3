"""Every setting is documented, under every name it goes by."""

from __future__ import annotations

import re
import textwrap
import traceback
from operator import attrgetter
from pathlib import Path

import pytest

from citewell.composition.configured import retrieval_options
from citewell.errors import ConfigurationError
from citewell.settings import (
    AnthropicChat,
    AnthropicVision,
    OpenAIChat,
    OpenAIVision,
    Settings,
    change,
    load_settings,
)
from citewell.settings.base import declared
from citewell.settings.loading import GROUPS, PROVIDERS, VARIABLES
from citewell.settings.names import NOT_READ, READ_WITH
from citewell.system.environment import proxy_of

DOCUMENT = (Path(__file__).parent.parent / "docs" / "configuration.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("names", VARIABLES.values(), ids=lambda names: names[0])
def test_setting_is_documented_with_all_its_names(names: tuple[str, ...]) -> None:
    row = next((line for line in DOCUMENT.splitlines() if line.startswith(f"| `{names[0]}` ")), "")
    documented = set(re.findall(r"`([A-Z0-9_]+)`", "".join(row.split("|")[1:3])))
    assert documented == set(names)


def test_documentation_names_no_setting_that_does_not_exist() -> None:
    documented = set(re.findall(r"^\| `(CITEWELL_[A-Z0-9_]+)`", DOCUMENT, re.MULTILINE))
    assert documented == {names[0] for names in VARIABLES.values()}


@pytest.mark.parametrize("group", PROVIDERS)
def test_documentation_offers_the_providers_that_there_are(group: str) -> None:
    row = next(line for line in DOCUMENT.splitlines() if line.startswith(f"| `{VARIABLES[group][0]}` "))
    words = set(re.findall(r"`([a-z0-9]+)`", row))
    assert words - {"local"} == set(PROVIDERS[group]) - {"local"}


def test_the_same_setting_has_the_same_names_wherever_it_is_declared() -> None:
    groups = (Settings, *(kind for kinds in GROUPS.values() for kind in kinds))
    found = {(names.keyword, names.variables) for group in groups for names in declared(group).values()}
    assert len(found) == len({keyword for keyword, _ in found})


def test_plain_names_of_the_field_work_and_ours_wins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RETRIEVAL_TOP_K", "7")
    monkeypatch.setenv("PORT", "1")
    assert load_settings().retrieval.top_k == 7
    assert load_settings().server.port == 8000
    monkeypatch.setenv("CITEWELL_TOP_K", "9")
    assert load_settings().retrieval.top_k == 9


def test_dotenv_is_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text("LLM_PROVIDER=anthropic\nANTHROPIC_API_KEY=hush-hush\n")
    settings = load_settings()
    assert isinstance(settings.chat, AnthropicChat)
    assert settings.chat.api_key is not None
    assert "hush" not in repr(settings)


def test_a_bad_value_names_its_setting(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CITEWELL_MAX_PAGES", "many")
    with pytest.raises(ConfigurationError, match="CITEWELL_MAX_PAGES"):
        load_settings()


# Every variable that the systems Citewell replaces read, and what it leads to here.
READ: list[tuple[dict[str, str], str, object]] = [
    ({"EMBEDDINGS_PROVIDER": "local"}, "embedding.provider", "builtin"),
    ({"EMBEDDING_MODEL": "m"}, "embedding.model", "m"),
    ({"EMBEDDING_MODEL": "m", "OPENAI_EMBEDDING_MODEL": "n"}, "embedding.model", "m"),
    ({"OPENAI_EMBEDDING_MODEL": "m"}, "embedding.model", None),
    ({"PINECONE_EMBED_MODEL": "m"}, "embedding.model", None),
    ({"EMBEDDING_PROVIDER": "openai", "OPENAI_EMBEDDING_MODEL": "m"}, "embedding.model", "m"),
    ({"EMBEDDING_PROVIDER": "pinecone", "PINECONE_EMBED_MODEL": "m"}, "embedding.model", "m"),
    ({"EMBEDDING_PROVIDER": "voyage", "EMBEDDING_BASE_URL": "http://h"}, "embedding.base_url", "http://h"),
    ({"RERANK_ENABLED": "true"}, "rerank.enabled", True),
    ({"RERANK_THRESHOLD": "0.1"}, "rerank.threshold", 0.1),
    ({"RERANK_TOP_N": "5"}, "rerank.top_n", 5),
    ({"RERANK_PROVIDER": "pinecone", "PINECONE_RERANK_MODEL": "bge"}, "rerank.model", "bge"),
    ({"RERANK_PROVIDER": "voyage"}, "rerank.threshold", 0.1),
    ({"EMBEDDING_PROVIDER": "voyage", "RERANK_MODEL": "rerank-2"}, "rerank.provider", "voyage"),
    ({"EMBEDDING_PROVIDER": "voyage", "RERANK_MODEL": "m", "RERANK_PROVIDER": "cohere"}, "rerank.provider", "cohere"),
    ({"EMBEDDINGS_PROVIDER": "voyage", "PINECONE_RERANK_MODEL": "bge"}, "rerank.provider", "builtin"),
    ({"EMBEDDING_PROVIDER": "store", "PINECONE_RERANK_MODEL": "bge"}, "rerank.model", "bge"),
    ({"EMBEDDINGS_PROVIDER": "openai", "RERANK_MODEL": "m"}, "rerank.provider", "builtin"),
    (
        {"EMBEDDING_PROVIDER": "voyage", "EMBEDDING_BASE_URL": "http://h", "RERANK_MODEL": "m"},
        "rerank.provider",
        "builtin",
    ),
    ({"RERANK_PROVIDER": "cohere", "RERANK_BASE_URL": "http://h"}, "rerank.base_url", "http://h"),
    ({"RETRIEVAL_TOP_K": "5"}, "retrieval.top_k", 5),
    ({"TOP_K": "7"}, "retrieval.top_k", 7),
    ({"DEFAULT_TOP_K": "4"}, "retrieval.top_k", 4),
    ({"RETRIEVAL_CANDIDATES": "20"}, "retrieval.candidates", 20),
    ({"SCORE_THRESHOLD": "0.3"}, "retrieval.score_threshold", 0.3),
    ({"SIMILARITY_THRESHOLD": "0.7"}, "retrieval.score_threshold", 0.7),
    ({"CHUNK_SIZE": "512"}, "chunking.size", 512),
    ({"CHUNK_SIZE_TOKENS": "1000"}, "chunking.size", 1000),
    ({"CHUNK_OVERLAP": "64"}, "chunking.overlap", 64),
    ({"CHUNK_OVERLAP_TOKENS": "100"}, "chunking.overlap", 100),
    ({"CHAT_PROVIDER": "openai", "OPENAI_MODEL": "gpt-4o-mini"}, "chat.model", "gpt-4o-mini"),
    ({"LLM_PROVIDER": "anthropic", "OPENAI_MODEL": "gpt", "LLM_MODEL": "claude"}, "chat.model", "claude"),
    ({"VISION_PROVIDER": "openai", "OPENAI_MODEL": "gpt"}, "vision.chat_model", "gpt"),
    ({"LLM_PROVIDER": "openai", "MAX_TOKENS": "1024"}, "chat.max_tokens", 1024),
    ({"LLM_PROVIDER": "openai", "TEMPERATURE": "0.2"}, "chat.temperature", 0.2),
]


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """An environment and a folder without any of the names that are read."""
    monkeypatch.chdir(tmp_path)
    for name in [*(name for names in VARIABLES.values() for name in names), *NOT_READ]:
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


@pytest.mark.parametrize(("variables", "field", "value"), READ, ids=["+".join(case[0]) for case in READ])
def test_names_of_other_systems_are_read(
    bare: pytest.MonkeyPatch, variables: dict[str, str], field: str, value: object
) -> None:
    for name, given in variables.items():
        bare.setenv(name, given)
    assert attrgetter(field)(load_settings()) == value


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_chat_model_gets_its_own_providers_key_and_address(bare: pytest.MonkeyPatch, provider: str) -> None:
    bare.setenv("LLM_PROVIDER", provider)
    for name in ("OPENAI", "ANTHROPIC"):
        bare.setenv(f"{name}_API_KEY", f"the key of {name}")
        bare.setenv(f"{name}_BASE_URL", f"http://{name.lower()}.test")
    chat = load_settings().chat
    assert isinstance(chat, OpenAIChat | AnthropicChat)
    assert chat.api_key is not None
    assert chat.api_key.get_secret_value() == f"the key of {provider.upper()}"
    assert chat.base_url == f"http://{provider}.test"


def test_a_field_of_one_provider_does_not_exist_under_another(bare: pytest.MonkeyPatch) -> None:
    bare.setenv("TEMPERATURE", "1")
    assert [name for name in ("temperature", "model", "api_key") if hasattr(load_settings().chat, name)] == []


def test_a_provider_without_an_adapter_is_told_by_the_name_that_chose_it(bare: pytest.MonkeyPatch) -> None:
    bare.setenv("RERANK_PROVIDER", "none")
    with pytest.raises(ConfigurationError) as raised:
        change(load_settings(), rerank_provider="of another version")
    assert (
        raised.value.message
        == "This version has no adapter for 'of another version'. Choose another provider in RERANK_PROVIDER."
    )


_OF_REDIS = "REDIS_URL has no effect, because CITEWELL_VECTOR_STORE is 'edge'. To use it, set VECTOR_STORE=redis."
_DESIGNS = {
    "pipeline": """
        OPENAI_API_KEY=sk-x
        PINECONE_API_KEY=pc-x
        CHUNK_SIZE = 512
        CHUNK_OVERLAP = 64
        PINECONE_INDEX_NAME = "pipeline"
        PINECONE_NAMESPACE = "documents"
        PINECONE_EMBED_MODEL = "multilingual-e5-large"
        PINECONE_RERANK_MODEL = "bge-reranker-v2-m3"
        OPENAI_MODEL = "gpt-4o-mini"
        """,
    "messenger": """
        OPENAI_API_KEY=sk-x
        EMBEDDINGS_PROVIDER=openai  # or local
        OPENAI_EMBEDDING_MODEL = "text-embedding-3-small"
        QDRANT_HOST=qdrant
        QDRANT_COLLECTION_NAME = "user_files_vectors"
        """,
}


@pytest.mark.parametrize(
    ("design", "chosen"),
    [
        ("pipeline", ("pinecone", "pinecone", "pinecone", "none")),
        ("messenger", ("openai", "qdrant", "builtin", "none")),
    ],
)
def test_a_pasted_environment_chooses_the_store_it_names_and_the_models_of_that_store(
    bare: pytest.MonkeyPatch, tmp_path: Path, design: str, chosen: tuple[str, ...]
) -> None:
    bare.chdir(tmp_path)
    (tmp_path / ".env").write_text(textwrap.dedent(_DESIGNS[design]))
    found = load_settings()
    assert (found.embedding.provider, found.store.provider, found.rerank.provider, found.chat.provider) == chosen


def test_two_addresses_choose_no_store(bare: pytest.MonkeyPatch) -> None:
    bare.setenv("QDRANT_HOST", "q")
    bare.setenv("PGVECTOR_URL", "postgresql://h/d")
    found = load_settings()
    assert (found.store.provider, len(found.without_effect)) == ("edge", 2)


@pytest.mark.parametrize(
    ("variables", "note"),
    [
        (
            {"OPENAI_EMBEDDING_MODEL": "m"},
            "OPENAI_EMBEDDING_MODEL has no effect, because CITEWELL_EMBEDDING_PROVIDER is 'builtin'. "
            "To use it, set EMBEDDING_PROVIDER=openai.",
        ),
        (
            {"LLM_PROVIDER": "anthropic", "OPENAI_MODEL": "m"},
            "OPENAI_MODEL has no effect, because LLM_PROVIDER is 'anthropic'.",
        ),
        (
            {"QDRANT_HOST": "q", "VECTOR_STORE": "edge"},
            "QDRANT_HOST has no effect, because VECTOR_STORE is 'edge'.",
        ),
        (
            {"QDRANT_HOST": "q"},
            "QDRANT_HOST is set, so vectors are kept in qdrant. For the built-in store, set VECTOR_STORE=edge.",
        ),
        (
            {"QDRANT_PORT": "6333"},
            "QDRANT_PORT has no effect, because CITEWELL_VECTOR_STORE is 'edge'. To use it, set VECTOR_STORE=qdrant.",
        ),
        (
            {"PINECONE_INDEX_NAME": "notes"},  # without a key, nothing goes to Pinecone
            "PINECONE_INDEX_NAME has no effect, because CITEWELL_VECTOR_STORE is 'edge'. To use it, set VECTOR_STORE=pinecone.",
        ),
        ({"REDIS_URL": "redis://h"}, _OF_REDIS),
        (
            {"VOYAGE_API_KEY": "k"},
            "VOYAGE_API_KEY is not used. To embed with its models, set EMBEDDING_PROVIDER=voyage.",
        ),
        (
            {"EMBEDDING_PROVIDER": "voyage", "VOYAGE_API_KEY": "k", "RERANK_MODEL": "rerank-2"},
            "RERANK_MODEL is used only by requests that ask for reranking. To rerank every search, set RERANK_ENABLED=true.",
        ),
        (
            {"CHUNK_SIZE": "512"},
            "CHUNK_SIZE counts tokens, as chunks follow sections. To count characters, set CHUNKING_STRATEGY=characters.",
        ),
        ({"MAX_TOKENS": "1"}, "MAX_TOKENS has no effect, because CITEWELL_CHAT_PROVIDER is 'none'."),
        (
            {"LLM_PROVIDER": "anthropic", "ANTHROPIC_API_KEY": "k", "OPENAI_BASE_URL": "http://h"},
            "OPENAI_BASE_URL has no effect, because LLM_PROVIDER is 'anthropic' and CITEWELL_VISION_PROVIDER is 'none'.",
        ),
        (
            {"OPENAI_MODEL": "m", "OPENAI_API_KEY": "k"},
            "OPENAI_MODEL has no effect, because CITEWELL_CHAT_PROVIDER is 'none' and CITEWELL_VISION_PROVIDER is 'none'. "
            "To use it, set CHAT_PROVIDER=openai.",
        ),
        ({"RERANK_MODEL": "m"}, "RERANK_MODEL has no effect, because CITEWELL_RERANK_PROVIDER is 'builtin'."),
        (
            {"CHUNK_SIZE": "100", "CHUNK_SIZE_TOKENS": "200", "CHUNKING_STRATEGY": "sections"},
            "CHUNK_SIZE_TOKENS has no effect, because CHUNK_SIZE is set.",
        ),
        ({"MAX_TOP_K": "20"}, "MAX_TOP_K is not read: a search returns at most 100 passages and a tool at most 30."),
        (
            {"DATABASE_URL": "sqlite:////elsewhere/other.db"},
            "DATABASE_URL is not read: other programs set it too; use CITEWELL_DATABASE_URL for the database.",
        ),
    ],
    ids=lambda value: "+".join(value) if isinstance(value, dict) else "",
)
def test_what_has_no_effect_is_said(bare: pytest.MonkeyPatch, variables: dict[str, str], note: str) -> None:
    for name, given in variables.items():
        bare.setenv(name, given)
    assert load_settings().without_effect == (note,)


@pytest.mark.parametrize(
    ("variables", "model"),
    [
        ({"CHAT_PROVIDER": "openai", "CHAT_MODEL": "m"}, "m"),
        ({"CHAT_PROVIDER": "anthropic", "CHAT_MODEL": "m"}, None),
        ({"CHAT_PROVIDER": "anthropic", "CHAT_MODEL": "m", "VISION_MODEL": "n"}, "n"),
        ({"CHAT_MODEL": "m"}, "m"),
    ],
    ids=["same provider", "another provider", "its own", "no chat"],
)
def test_pictures_are_described_by_the_chat_model_unless_that_is_another_providers(
    bare: pytest.MonkeyPatch, variables: dict[str, str], model: str | None
) -> None:
    for name, given in {**variables, "VISION_PROVIDER": "openai"}.items():
        bare.setenv(name, given)
    vision = load_settings().vision
    assert isinstance(vision, OpenAIVision)
    assert vision.chosen_model == model


def test_a_model_of_openais_describes_no_pictures_at_anthropic(bare: pytest.MonkeyPatch) -> None:
    bare.setenv("VISION_PROVIDER", "anthropic")
    bare.setenv("OPENAI_MODEL", "m")
    vision = load_settings().vision
    assert isinstance(vision, AnthropicVision)
    assert vision.chosen_model is None
    bare.setenv("LLM_MODEL", "n")
    bare.delenv("OPENAI_MODEL")
    assert attrgetter("vision.chosen_model")(load_settings()) == "n"


def test_nothing_set_is_nothing_to_say(bare: pytest.MonkeyPatch) -> None:
    bare.setenv("OPENAI_API_KEY", "k")
    bare.setenv("TOP_K", "10")
    bare.setenv("DEFAULT_TOP_K", "10")
    assert load_settings().without_effect == ()


@pytest.mark.parametrize(("name", "keyword"), [("DATABASE_URL", "database_url"), ("FILE_TTL", "file_ttl")])
def test_a_short_name_that_would_endanger_files_is_not_read(bare: pytest.MonkeyPatch, name: str, keyword: str) -> None:
    bare.setenv(name, "1")
    assert keyword not in load_settings().values


def test_the_database_of_another_program_goes_without_mention_beside_ours(bare: pytest.MonkeyPatch) -> None:
    bare.setenv("DATABASE_URL", "mysql://elsewhere/other")
    bare.setenv("CITEWELL_DATABASE_URL", "sqlite:////here/ours.db")
    assert load_settings().without_effect == ()


def test_an_empty_value_of_another_tool_counts_as_not_set(bare: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_BASE_URL", "TOP_K", "OPENAI_API_KEY"):
        bare.setenv(name, "")
    settings = load_settings(chat_provider="openai")
    assert isinstance(settings.chat, OpenAIChat)
    assert (settings.chat.base_url, settings.chat.api_key) == (None, None)
    assert settings.retrieval.top_k == 10


def test_the_tables_of_names_name_what_exists() -> None:
    aliases = {name for names in VARIABLES.values() for name in names}
    assert set(READ_WITH) <= aliases
    assert not set(NOT_READ) & aliases
    assert all(f"`{name}`" in DOCUMENT for name in NOT_READ)
    assert {keyword for keyword, _ in READ_WITH.values()} <= set(PROVIDERS)


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


def test_pure_cosine_order_has_one_leg_and_no_feedback(bare: pytest.MonkeyPatch) -> None:
    bare.setenv("CITEWELL_FUSION", "cosine")
    options = retrieval_options(load_settings())
    assert (options.dense_weight, options.feedback_chunks) == (1.0, 0)


@pytest.mark.parametrize(
    ("variables", "proxy"),
    [
        ({}, None),
        ({"HTTPS_PROXY": "http://p:3128"}, "http://p:3128"),
        ({"ALL_PROXY": "http://p:3128"}, "http://p:3128"),
        ({"HTTPS_PROXY": "http://p:3128", "NO_PROXY": "pinecone.io"}, None),
        ({"HTTP_PROXY": "http://p:3128"}, None),
    ],
)
def test_the_proxy_is_that_of_the_environment(
    bare: pytest.MonkeyPatch, variables: dict[str, str], proxy: str | None
) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        bare.delenv(name, raising=False)
        bare.delenv(name.upper(), raising=False)
    for name, value in variables.items():
        bare.setenv(name, value)
    assert proxy_of("https://api.pinecone.io") == proxy
