"""A configuration that does not work is one line and exit code 2, whatever was started; the line names the variable."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from citewell import Citewell
from citewell.errors import ConfigurationError, DataFolderBusy
from citewell.system.folder import DataFolder
from tests.server.typed import citewell

pytestmark = [pytest.mark.full, pytest.mark.slow(60)]

TRY_AGAIN = 75
"""`EX_TEMPFAIL` of sysexits.h: what the process needs is away."""
SECRET = "0123456789abcdef0123456789abcdef-not-a-real-one"
COMMANDS: dict[str, tuple[str, ...]] = {
    "serve": ("serve", "--port", "0"),
    "worker": ("worker",),
    "add": ("add", "note.txt"),
    "search": ("search", "anything"),
    "ask": ("ask", "anything?"),
    "ls": ("ls",),
    "rm": ("rm", "note.txt"),
    "index": ("index", "ls"),
    "doctor": ("doctor",),
    "token": ("token",),
}
# One for each way in which a value can be wrong: (variables, the name that the line must hold, what it must say).
BAD: dict[str, tuple[dict[str, str], str, str]] = {
    "empty secret": ({"CITEWELL_AUTH_SECRET": ""}, "CITEWELL_AUTH_SECRET", "empty"),
    "blank secret": ({"CITEWELL_AUTH_SECRET": "   "}, "CITEWELL_AUTH_SECRET", "empty"),
    "empty secret under its other name": ({"JWT_SECRET": ""}, "JWT_SECRET", "empty"),
    "short secret": ({"CITEWELL_AUTH_SECRET": "hush-hush"}, "CITEWELL_AUTH_SECRET", "32 bytes"),
    "secret too short for its algorithm": (
        {"CITEWELL_AUTH_SECRET": SECRET, "JWT_ALGORITHM": "HS512"},
        "CITEWELL_AUTH_SECRET",
        "64 bytes",
    ),
    "secret of one letter": ({"CITEWELL_AUTH_SECRET": "a" * 64}, "CITEWELL_AUTH_SECRET", "random"),
    "threshold NaN": ({"SIMILARITY_THRESHOLD": "nan"}, "SIMILARITY_THRESHOLD", "finite number"),
    "threshold infinite": ({"CITEWELL_SCORE_THRESHOLD": "inf"}, "CITEWELL_SCORE_THRESHOLD", "finite number"),
    "rerank threshold NaN": ({"RERANK_THRESHOLD": "NaN"}, "RERANK_THRESHOLD", "finite number"),
    "time infinite": ({"CITEWELL_ANSWER_SECONDS": "infinity"}, "CITEWELL_ANSWER_SECONDS", "finite number"),
    "price NaN": ({"CITEWELL_PRICES": '{"m": [NaN, 1]}'}, "CITEWELL_PRICES", "finite number"),
    "prices no JSON": ({"CITEWELL_PRICES": "{cheap"}, "CITEWELL_PRICES", "JSON"),
    "overlap as large as the chunk": (
        {"CHUNK_SIZE": "100", "CHUNK_OVERLAP_TOKENS": "100"},
        "CHUNK_OVERLAP_TOKENS",
        "CHUNK_SIZE",
    ),
    "overlap beyond the strategy's size": ({"CITEWELL_CHUNK_OVERLAP": "300"}, "CITEWELL_CHUNK_OVERLAP", "200"),
    "tokens for a strategy of characters": (
        {"CHUNK_SIZE_TOKENS": "500", "CITEWELL_CHUNK_STRATEGY": "characters"},
        "CHUNK_SIZE_TOKENS",
        "characters",
    ),
    "database": ({"CITEWELL_DATABASE_URL": "not a url"}, "CITEWELL_DATABASE_URL", "postgresql://"),
    "database of another kind": ({"CITEWELL_DATABASE_URL": "mysql://h/d"}, "CITEWELL_DATABASE_URL", "postgresql://"),
    "database port": (
        {"CITEWELL_DATABASE_URL": "postgresql://u:geheim@h:x/d"},
        "CITEWELL_DATABASE_URL",
        "postgresql://",
    ),
    "empty database": ({"CITEWELL_DATABASE_URL": ""}, "CITEWELL_DATABASE_URL", "empty"),
    "chat address": ({"OPENAI_BASE_URL": "localhost:11434/v1"}, "OPENAI_BASE_URL", "http://"),
    "chat address port": ({"CITEWELL_CHAT_BASE_URL": "http://h:99999"}, "CITEWELL_CHAT_BASE_URL", "http://"),
    "qdrant address": ({"QDRANT_URL": "ftp://h"}, "QDRANT_URL", "http://"),
    "qdrant host": ({"QDRANT_HOST": "http://qdrant"}, "QDRANT_HOST", "QDRANT_URL"),
    "qdrant collection": ({"QDRANT_COLLECTION_NAME": "user files/1"}, "QDRANT_COLLECTION_NAME", "letters"),
    "qdrant port": ({"QDRANT_HOST": "q", "QDRANT_PORT": "0"}, "QDRANT_PORT", "at least 1"),
    "redis address": ({"REDIS_URL": "http://h"}, "REDIS_URL", "redis://"),
    "pgvector address": ({"SUPABASE_DB_URL": "https://x.supabase.co"}, "SUPABASE_DB_URL", "postgresql://"),
    "pinecone index": ({"VECTOR_STORE": "pinecone", "PINECONE_INDEX": "My Index"}, "PINECONE_INDEX", "lower-case"),
    "pinecone namespace": ({"VECTOR_STORE": "pinecone", "PINECONE_NAMESPACE": "a/b"}, "PINECONE_NAMESPACE", "letters"),
    "s3 endpoint": ({"S3_ENDPOINT": "minio:9000"}, "S3_ENDPOINT", "http://"),
    "host to listen on": ({"CITEWELL_HOST": "http://here"}, "CITEWELL_HOST", "127.0.0.1"),
    "port": ({"CITEWELL_PORT": "70000"}, "CITEWELL_PORT", "at most 65535"),
    "no number": ({"CITEWELL_MAX_PAGES": "many"}, "CITEWELL_MAX_PAGES", "'many'"),
    "no truth": ({"CITEWELL_OCR": "perhaps"}, "CITEWELL_OCR", "true or false"),
    "no such choice": ({"CITEWELL_CHAT_PROVIDER": "opnai"}, "CITEWELL_CHAT_PROVIDER", "Did you mean 'openai'?"),
    "temperature": ({"TEMPERATURE": "3"}, "TEMPERATURE", "at most 2"),
    "temperature of Anthropic": ({"TEMPERATURE": "1.5", "CHAT_PROVIDER": "anthropic"}, "TEMPERATURE", "at most 1"),
    "answer without tokens": ({"MAX_TOKENS": "0"}, "MAX_TOKENS", "at least 1"),
    "unknown name": ({"CITEWELL_CHUNK_SISE": "9"}, "CITEWELL_CHUNK_SISE", "Did you mean CITEWELL_CHUNK_SIZE?"),
    "name of the field with our prefix": (
        {"CITEWELL_SIMILARITY_THRESHOLD": "0.7"},
        "CITEWELL_SIMILARITY_THRESHOLD",
        "Did you mean",
    ),
    "home of nobody": ({"CITEWELL_DATA": "~no-such-user/data"}, "CITEWELL_DATA", "home"),
}


def _environment(variables: dict[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "PYTHONPATH", "HOME", "LANG")}
    return {"PYTHONPATH": str(Path(__file__).parents[2]), **kept, **variables}


def run(folder: Path, *arguments: str, code: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
    """The command line as typed in a folder of its own; `code` runs before it in the same process."""
    (folder / "note.txt").write_text("A note to be added.")
    start = ["-c", f"{code}\nfrom citewell.cli import main\nmain()"] if code else ["-m", "citewell.cli"]
    return subprocess.run(
        [sys.executable, *start, *arguments],
        cwd=folder,
        env=_environment(variables),
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )


def fail(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """The same for what fails before anything is opened, many times as fast."""
    (folder / "note.txt").write_text("A note to be added.")
    return citewell(arguments, folder, _environment(variables))


def refused(done: subprocess.CompletedProcess[str], *wanted: str, code: int = 2) -> str:
    """The one line of an exit with code 2, which holds what is wanted."""
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    assert [text for text in wanted if text not in lines[0]] == [], lines[0]
    return lines[0]


@pytest.mark.parametrize("case", BAD)
def test_a_bad_value_is_one_line_that_names_its_variable(case: str, tmp_path: Path) -> None:
    variables, name, said = BAD[case]
    where = {} if "CITEWELL_DATA" in variables else {"CITEWELL_DATA": str(tmp_path / "data")}
    line = refused(fail(tmp_path, "ls", **where, **variables), name, said)
    assert not any(secret in line for secret in ("hush-hush", "geheim", SECRET))
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_refuses_a_bad_value(command: str, tmp_path: Path) -> None:
    refused(fail(tmp_path, *COMMANDS[command], "--data", "data", CITEWELL_AUTH_SECRET="x"), "CITEWELL_AUTH_SECRET")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_refuses_an_unknown_name(command: str, tmp_path: Path) -> None:
    done = fail(tmp_path, *COMMANDS[command], "--data", "data", CITEWELL_TOPK="3")
    refused(done, "CITEWELL_TOPK", "Did you mean CITEWELL_TOP_K?")


def test_measuring_refuses_a_bad_value_and_an_unknown_name(tmp_path: Path) -> None:
    for name in ("corpus", "queries", "qrels"):
        (tmp_path / name).write_text("")
    command = ("eval", "retrieval", "--corpus", "corpus", "--queries", "queries", "--qrels", "qrels")
    refused(fail(tmp_path, *command, CITEWELL_FUSION="none"), "CITEWELL_FUSION")
    refused(fail(tmp_path, *command, CITEWELL_FUSOIN="rrf"), "CITEWELL_FUSOIN", "CITEWELL_FUSION?")


def test_names_in_dotenv_are_checked_too(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("CITEWELL_CHAT_MODLE=gpt-test\nOTHER_TOOL=1\n")
    refused(fail(tmp_path, "token", "--data", "data"), "CITEWELL_CHAT_MODLE", "CITEWELL_CHAT_MODEL?", ".env")


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"CITEWELL_OCR\n"], ids=["not text", "no value"])
def test_a_dotenv_that_cannot_be_used_is_one_line(tmp_path: Path, content: bytes) -> None:
    (tmp_path / ".env").write_bytes(content)
    refused(run(tmp_path, "token", "--data", "data"), ".env" if b"\xff" in content else "CITEWELL_OCR")


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7"])
def test_a_host_that_others_reach_needs_a_secret(tmp_path: Path, host: str) -> None:
    line = refused(run(tmp_path, "serve", "--data", "data", "--port", "0", CITEWELL_HOST=host), host, "CITEWELL_HOST")
    assert "CITEWELL_AUTH_SECRET" in line
    assert not (tmp_path / "data").exists()


def test_a_port_in_use_is_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        refused(run(tmp_path, "serve", "--data", "data", CITEWELL_PORT=port), port, "--port", "CITEWELL_PORT")


@pytest.mark.parametrize("command", [name for name in COMMANDS if name not in ("worker", "doctor")])
def test_a_data_folder_that_is_a_file_is_one_line(command: str, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    refused(run(tmp_path, *COMMANDS[command], CITEWELL_DATA="data"), str(tmp_path / "data"))


@pytest.mark.parametrize("command", ["serve", "ls", "token"])
def test_a_data_folder_that_cannot_be_written_is_one_line(command: str, tmp_path: Path) -> None:
    refused(run(tmp_path, *COMMANDS[command], CITEWELL_DATA="/proc/citewell"), "/proc/citewell")


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", "cw_schlüssel".encode(), b"two words", b" \n"])
def test_a_damaged_token_is_one_line_that_says_how_to_have_a_new_one(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "token").write_bytes(content)
    refused(run(tmp_path, "token", CITEWELL_DATA=str(tmp_path)), str(tmp_path / "token"), "Delete it")
    (tmp_path / "token").unlink()
    assert run(tmp_path, "token", CITEWELL_DATA=str(tmp_path)).stdout.strip().startswith("cw_")


def test_the_doctor_says_what_is_wrong_with_the_data_folder(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    done = run(tmp_path, "doctor", CITEWELL_DATA="data")
    assert (done.returncode, done.stderr) == (1, "")
    assert "error data folder" in done.stdout


@pytest.mark.parametrize("command", ["serve", "ls"])
def test_a_data_folder_that_another_process_holds_is_one_line(command: str, tmp_path: Path) -> None:
    folder = DataFolder(tmp_path / "data")
    folder.hold()
    try:
        refused(run(tmp_path, *COMMANDS[command], "--data", "data"), "data")
    finally:
        folder.release()


def test_a_data_folder_whose_database_is_none_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "citewell.db").write_bytes(b"This is not a database. " * 400)
    for command in ("serve", "ls"):
        refused(run(tmp_path, *COMMANDS[command], "--data", "data"), "citewell.db", "database")


# A package that is not installed: importing it fails as it does then.
WITHOUT = "import sys\nfor name in {names!r}: sys.modules[name] = None"


@pytest.mark.parametrize("command", [name for name in COMMANDS if name not in ("worker", "doctor", "token")])
def test_a_missing_package_is_one_line_that_says_how_to_install_it(command: str, tmp_path: Path) -> None:
    done = run(
        tmp_path, *COMMANDS[command], "--data", "data", code=WITHOUT.format(names=["langchain_openai"]),
        LLM_PROVIDER="openai", OPENAI_MODEL="gpt-test", OPENAI_API_KEY="k",
    )  # fmt: skip
    refused(done, "LLM_PROVIDER", "langchain_openai", "pip install 'citewell[openai]'")


def test_postgres_without_its_package_is_one_line(tmp_path: Path) -> None:
    code = WITHOUT.format(names=["asyncpg"])
    done = run(
        tmp_path, "serve", "--data", "data", "--port", "0", code=code, CITEWELL_DATABASE_URL="postgresql://u@h/d"
    )
    refused(done, "CITEWELL_DATABASE_URL", "asyncpg", "pip install 'citewell[postgres]'")


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("postgresql://u:geheim@127.0.0.1:9/d", TRY_AGAIN),
        ("postgresql://u:geheim@no-such-host.invalid/d", TRY_AGAIN),
        ("postgresql://u:geheim@127.0.0.1:9/d?connect_tmeout=3", 2),
    ],
)
def test_a_database_that_cannot_be_reached_is_one_line(tmp_path: Path, url: str, code: int) -> None:
    done = run(tmp_path, "serve", "--data", "data", "--port", "0", CITEWELL_DATABASE_URL=url)
    assert "geheim" not in refused(done, "CITEWELL_DATABASE_URL", code=code)


def test_a_vector_store_that_is_away_at_the_start_is_one_line_and_no_error_of_the_configuration(tmp_path: Path) -> None:
    """After it, systemd starts the process again, as it does not after a wrong configuration."""
    unit = (Path(__file__).parents[2] / "deploy" / "systemd" / "citewell-worker@.service").read_text()
    prevented = re.findall(r"^RestartPreventExitStatus=(.*)$", unit, re.MULTILINE)
    assert prevented == ["2"]
    done = run(
        tmp_path, "serve", "--data", "data", "--port", "0", VECTOR_STORE="qdrant", QDRANT_URL="http://127.0.0.1:9"
    )
    refused(done, "Qdrant", code=TRY_AGAIN)


def test_a_database_that_refuses_is_one_line(tmp_path: Path, postgres: str) -> None:
    refused(
        run(tmp_path, "ls", "--data", "data", CITEWELL_DATABASE_URL=postgres.replace("/postgres?", "/none?")),
        "CITEWELL_DATABASE_URL",
    )


@pytest.mark.parametrize(
    ("variables", "wanted"),
    [
        ({"VECTOR_DB": "qdrant"}, ("VECTOR_DB", "CITEWELL_QDRANT_URL")),
        ({"VECTOR_STORE": "pinecone", "PINECONE_NAMESPACE": "documents"}, ("VECTOR_STORE", "PINECONE_API_KEY")),
        (
            {"EMBEDDINGS_PROVIDER": "fastembed", "EMBEDDING_MODEL": "bge-smal-en"},
            ("EMBEDDING_MODEL", "fastembed does not have"),
        ),
        ({"EMBEDDINGS_PROVIDER": "openai"}, ("EMBEDDINGS_PROVIDER", "OPENAI_API_KEY")),
        ({"EMBEDDING_PROVIDER": "voyage", "EMBEDDING_DIMENSIONS": "3"}, ("EMBEDDING_DIMENSIONS", "1024")),
        (
            {"EMBEDDING_PROVIDER": "voyage", "VOYAGE_API_KEY": "k", "CITEWELL_MAX_SPEND": "5"},
            ("CITEWELL_MAX_SPEND", "CITEWELL_PRICES", "voyage-4"),
        ),
        ({"RERANK_PROVIDER": "voyage"}, ("RERANK_PROVIDER", "VOYAGE_API_KEY")),
        ({"STORAGE_BACKEND": "gcs"}, ("STORAGE_BACKEND", "'gcs'")),
        ({"EMBEDDING_MODEL": "voyage-3"}, ("EMBEDDING_MODEL", "voyage-3")),
        ({"EMBEDDING_DIMENSIONS": "1024"}, ("EMBEDDING_DIMENSIONS", "384")),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_what_there_is_no_adapter_or_key_for_is_one_line(
    tmp_path: Path, variables: dict[str, str], wanted: tuple[str, ...]
) -> None:
    for command in ("serve", "ls"):
        refused(run(tmp_path, *COMMANDS[command], "--data", "data", **variables), *wanted)


def test_a_worker_that_has_nothing_to_share_is_one_line(tmp_path: Path) -> None:
    done = run(tmp_path, "worker", "--data", "data")
    refused(done, "CITEWELL_DATABASE_URL", "CITEWELL_VECTOR_STORE", "CITEWELL_BLOB_BACKEND")


def test_vectors_in_postgres_need_a_postgres(tmp_path: Path) -> None:
    refused(run(tmp_path, "ls", "--data", "data", VECTOR_STORE="pgvector"), "VECTOR_STORE", "CITEWELL_PGVECTOR_URL")
    done = run(
        tmp_path, "ls", "--data", "data", VECTOR_STORE="pgvector", PGVECTOR_URL="postgresql://u:geheim@127.0.0.1:9/d"
    )
    assert "geheim" not in refused(done, "Postgres", code=TRY_AGAIN)
    refused(
        run(tmp_path, "ls", "--data", "data", CITEWELL_PGVECTOR_SCHEMA="a-b"), "CITEWELL_PGVECTOR_SCHEMA", "letters"
    )


def test_a_qdrant_server_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    done = run(tmp_path, "ls", "--data", "data", VECTOR_DB="qdrant", QDRANT_HOST="127.0.0.1", QDRANT_PORT="9")
    refused(done, "Qdrant", code=TRY_AGAIN)


def test_the_library_raises_what_the_command_line_prints(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"chunk_sise.*chunk_size"):
        Citewell(tmp_path / "data", chunk_sise=100)
    with pytest.raises(ConfigurationError, match=r"chunk_overlap.*CITEWELL_CHUNK_OVERLAP"):
        Citewell(tmp_path / "data", chunk_size=100, chunk_overlap=100)
    with pytest.raises(ConfigurationError, match="auth_secret") as raised:
        Citewell(tmp_path / "data", auth_secret="hush-hush")
    assert "hush" not in "".join(map(str, (raised.value, raised.value.__cause__)))
    (tmp_path / "file").write_text("a file")
    with pytest.raises(ConfigurationError, match="data folder"), Citewell(tmp_path / "file"):
        pass
    with Citewell(tmp_path / "data"), pytest.raises(DataFolderBusy), Citewell(tmp_path / "data"):
        pass
