"""What `deploy/` says of Citewell is true: its settings exist and load, its commands are commands, its files are in the image."""

from __future__ import annotations

import configparser
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer import Context

from citewell.cli import app
from citewell.doctor.examination import faults_of_python
from citewell.settings import PgvectorStore, S3Blobs, load_settings
from citewell.settings.loading import VARIABLES

ROOT = Path(__file__).resolve().parent.parent
DEPLOY = ROOT / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
COMMANDS = set(app.list_commands(Context(app)))
NAMES = {name for names in VARIABLES.values() for name in names}
SERVICES = ("server", "server-2", "worker")
SECRETS = ("CITEWELL_AUTH_SECRET", "POSTGRES_PASSWORD", "MINIO_PASSWORD")


def _compose() -> dict[str, Any]:
    text = (DEPLOY / "compose.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(re.sub(r"\$\{(\w+):\?[^}]*\}", lambda match: f"{match[1]}-0123456789abcdef0123456789", text))


def _instructions() -> list[tuple[str, str]]:
    text = (DEPLOY / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [(line.split(maxsplit=1)[0], line.split(maxsplit=1)[1]) for line in lines]


def _unit(path: Path) -> dict[str, list[str]]:
    """The settings of a unit's service, each of which may occur several times."""
    found: dict[str, list[str]] = {}
    section = path.read_text(encoding="utf-8").split("[Service]")[1].split("[Install]")[0]
    for line in section.splitlines():
        if line.strip() and not line.startswith("#"):
            name, value = line.split("=", 1)
            found.setdefault(name, []).append(value)
    return found


def test_every_secret_of_the_compose_file_must_be_given_and_is_in_the_example() -> None:
    text = (DEPLOY / "compose.yaml").read_text(encoding="utf-8")
    assert set(re.findall(r"\$\{(\w+)", text)) == set(re.findall(r"\$\{(\w+):\?", text)) == set(SECRETS)
    parser = configparser.ConfigParser(delimiters=("=",))
    parser.optionxform = str  # pyright: ignore[reportAttributeAccessIssue]
    parser.read_string("[env]\n" + (DEPLOY / "example.env").read_text(encoding="utf-8"))
    assert dict(parser["env"]) == dict.fromkeys(SECRETS, "")


@pytest.mark.parametrize("service", SERVICES)
def test_the_environment_of_the_compose_file_is_a_configuration_that_processes_can_share(
    service: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    environment = _compose()["services"][service]["environment"]
    assert environment.keys() <= NAMES
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    settings = load_settings()
    assert isinstance(settings.store, PgvectorStore)
    assert settings.store.dsn.endswith("@postgres/citewell")
    assert isinstance(settings.blobs, S3Blobs)
    assert settings.auth.secret is not None
    assert settings.without_effect == ()


def test_each_service_runs_without_rights() -> None:
    for name in SERVICES:
        service = _compose()["services"][name]
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert "no-new-privileges:true" in service["security_opt"]
        assert set(service.get("command", [])) <= COMMANDS
    ports = [port for service in _compose()["services"].values() for port in service.get("ports", [])]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_the_image_is_built_from_files_that_exist_and_the_build_may_see() -> None:
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    admitted = [line[1:] for line in ignored if line.startswith("!")]
    copied = [shlex.split(rest)[:-1] for name, rest in _instructions() if name == "COPY" and "--from" not in rest]
    for source in [one for sources in copied for one in sources]:
        assert (ROOT / source).exists(), source
        assert any(source == top or source.startswith(f"{top}/") for top in admitted), source


def test_the_image_has_no_rights_and_starts_a_command() -> None:
    final = _instructions()[max(n for n, (name, _) in enumerate(_instructions()) if name == "FROM") :]
    said = {name: rest for name, rest in final if name != "RUN"}
    assert said["USER"].split(":")[0].isdigit()
    assert said["USER"] != "0"
    assert yaml.safe_load(said["CMD"])[0] in COMMANDS
    assert set(re.findall(r"\b(CITEWELL_\w+)=", said["ENV"])) <= NAMES
    assert not [rest for name, rest in _instructions() if name == "ADD" or "curl" in rest]


def test_the_image_has_a_python_without_known_faults() -> None:
    (patch,) = [rest.removeprefix("PYTHON=") for name, rest in _instructions() if name == "ARG"]
    major, minor, micro = map(int, patch.split("."))
    assert faults_of_python((major, minor, micro)) == []
    bases = [rest.split()[0] for name, rest in _instructions() if name == "FROM" and rest.startswith("python")]
    assert set(bases) == {"python:${PYTHON}-slim"}


def test_everything_in_the_image_is_pinned_by_hash() -> None:
    installs = [part for _, rest in _instructions() for part in rest.split("&&") if "pip install" in part]
    assert len(installs) == 3
    assert [part for part in installs if "--require-hashes" not in part and "--no-deps" not in part] == []


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_a_unit_starts_a_command_and_lets_the_sandbox_work(path: Path) -> None:
    unit = _unit(path)
    program, command = shlex.split(unit["ExecStart"][0])
    assert program.endswith("/bin/citewell")
    assert command in COMMANDS
    assert set(re.findall(r"\b(CITEWELL_\w+)=", " ".join(unit["Environment"]))) <= NAMES
    assert unit["NoNewPrivileges"] == ["yes"]
    assert unit["ProtectSystem"] == ["strict"]
    assert unit["CapabilityBoundingSet"] == [""]
    assert set(unit["RestrictNamespaces"][0].split()) == {"user", "net", "ipc"}
    assert {"landlock_restrict_self", "seccomp"} <= set(unit["SystemCallFilter"][0].split())


def _templates() -> str:
    return "\n".join(path.read_text("utf-8") for path in sorted((DEPLOY / "helm" / "templates").glob("*")))


def test_the_chart_sets_settings_that_exist_and_runs_commands_that_exist() -> None:
    values = yaml.safe_load((DEPLOY / "helm" / "values.yaml").read_text("utf-8"))
    assert values["settings"].keys() <= NAMES
    assert set(re.findall(r"\bCITEWELL_\w+", _templates())) <= NAMES
    commands = [arguments.split(", ") for arguments in re.findall(r"args: \[([\w, ]+)\]", _templates())]
    assert sorted(commands) == [["folder", "migrate"], ["serve"], ["worker"]]
    assert {command[0] for command in commands} <= COMMANDS
    chart = yaml.safe_load((DEPLOY / "helm" / "Chart.yaml").read_text("utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert chart["appVersion"] == project["version"]


def test_the_chart_gives_pods_no_rights_and_holds_no_secret() -> None:
    templates = _templates()
    for guard in (
        "runAsNonRoot: true",
        "readOnlyRootFilesystem: true",
        "allowPrivilegeEscalation: false",
        "drop: [ALL]",
        "automountServiceAccountToken: false",
    ):
        assert guard in templates
    assert "kind: Secret" not in templates
    assert templates.count('include "citewell.pod"') == templates.count('include "citewell.container"') == 3
