"""Lists known vulnerabilities of the pinned Python and npm packages: advisories.py [DUMP …].

A DUMP is a file or folder of https://osv-vulnerabilities.storage.googleapis.com (`PyPI/all.zip`, `npm/all.zip`), or its unpacked JSON files;
without one, api.osv.dev is asked. Exit code: 0 nothing known, 1 something is, 2 there was nobody to ask.
"""

from __future__ import annotations

import json
import re
import sys
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import httpx
from packaging.version import InvalidVersion, Version

ROOT = Path(__file__).resolve().parent.parent
OSV = "https://api.osv.dev/v1/querybatch"
_PER_CALL = 1_000  # queries that OSV takes in a call
_SECONDS = 60.0
_PIN = re.compile(r"^([\w.-]+)(?:\[[^\]]*\])?==([^\s;\\]+)", re.MULTILINE)
_NOBODY = (
    "There is no source of advisories: {reason}. Nothing was checked. Download PyPI/all.zip and npm/all.zip from "
    'https://osv-vulnerabilities.storage.googleapis.com where there is a network, and name them: make advisories OSV="FILE FILE"'
)


class Package(NamedTuple):
    """A pinned package."""

    ecosystem: str
    name: str
    version: str


def pinned(root: Path = ROOT) -> list[Package]:
    """Everything that `requirements/*.txt` and `web/package-lock.json` pin."""
    texts = [path.read_text(encoding="utf-8") for path in sorted((root / "requirements").glob("*.txt"))]
    found = {Package("PyPI", _normal(name), version) for text in texts for name, version in _PIN.findall(text)}
    lock = json.loads((root / "web/package-lock.json").read_text(encoding="utf-8"))
    for path, entry in lock["packages"].items():
        if path and "version" in entry:
            found.add(Package("npm", entry.get("name", path.rpartition("node_modules/")[2]), entry["version"]))
    return sorted(found)


def from_dumps(packages: Iterable[Package], dumps: Iterable[Path]) -> dict[Package, set[str]]:
    """The ids of advisories by package, from dumps."""
    by_name: dict[tuple[str, str], list[Package]] = {}
    for package in packages:
        by_name.setdefault((package.ecosystem, package.name), []).append(package)
    found: dict[Package, set[str]] = {}
    for advisory in _advisories(dumps):
        for affected in [] if advisory.get("withdrawn") else advisory.get("affected", ()):
            named = affected.get("package", {})
            ecosystem, name = named.get("ecosystem", ""), named.get("name", "")
            for package in by_name.get((ecosystem, _normal(name) if ecosystem == "PyPI" else name), ()):
                if is_affected(affected, package.version):
                    found.setdefault(package, set()).add(advisory["id"])
    return found


def is_affected(affected: Mapping[str, Any], version: str) -> bool:
    """Whether an entry of an advisory is about a version: listed, or within a range (https://ossf.github.io/osv-schema)."""
    if version in affected.get("versions", ()):
        return True
    ranges = [one for one in affected.get("ranges", ()) if one.get("type") in ("ECOSYSTEM", "SEMVER")]
    return any(_is_within(one.get("events", ()), version) for one in ranges)


def _is_within(events: Iterable[Mapping[str, str]], version: str) -> bool:
    """Events in order of their versions: `introduced` opens, `fixed` closes before its version, `last_affected` after it."""
    try:
        asked = Version(version)
        ordered = sorted((_version(at), kind) for event in events for kind, at in event.items() if kind != "limit")
    except InvalidVersion:
        return True  # somebody has to look
    inside = False
    for at, kind in ordered:
        if kind == "introduced" and at <= asked:
            inside = True
        elif (kind == "fixed" and at <= asked) or (kind == "last_affected" and at < asked):
            inside = False
    return inside


def _version(text: str) -> Version:
    return Version("0.dev0" if text == "0" else text)


def _advisories(dumps: Iterable[Path]) -> Iterator[dict[str, Any]]:
    for dump in dumps:
        for path in sorted(dump.rglob("*")) if dump.is_dir() else [dump]:
            if path.suffix == ".zip":
                with zipfile.ZipFile(path) as archive:
                    for name in archive.namelist():
                        yield json.loads(archive.read(name))
            elif path.suffix == ".json":
                yield json.loads(path.read_bytes())


def from_osv(packages: list[Package], address: str = OSV) -> dict[Package, set[str]]:
    """The same, asked of OSV."""
    found: dict[Package, set[str]] = {}
    for first in range(0, len(packages), _PER_CALL):
        some = packages[first : first + _PER_CALL]
        queries = [{"package": {"ecosystem": one.ecosystem, "name": one.name}, "version": one.version} for one in some]
        answer = httpx.post(address, json={"queries": queries}, timeout=_SECONDS).raise_for_status().json()
        for package, result in zip(some, answer["results"], strict=True):
            if ids := {one["id"] for one in result.get("vulns", ())}:
                found[package] = ids
    return found


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def main(arguments: list[str]) -> int:
    """Print what is known of each package."""
    packages, dumps = pinned(), [Path(argument) for argument in arguments]
    if missing := [str(dump) for dump in dumps if not dump.exists()]:
        print(_NOBODY.format(reason=f"{', '.join(missing)} does not exist"), file=sys.stderr)
        return 2
    try:
        found = from_dumps(packages, dumps) if dumps else from_osv(packages)
    except (httpx.HTTPError, ValueError, KeyError) as error:
        print(_NOBODY.format(reason=f"api.osv.dev cannot be asked ({error})"), file=sys.stderr)
        return 2
    for package in sorted(found):
        print(f"{package.ecosystem} {package.name} {package.version}: {', '.join(sorted(found[package]))}")
    print(f"{len(found)} of {len(packages)} pinned packages have known vulnerabilities.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
