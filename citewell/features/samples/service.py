"""The sample files that ship with Citewell, for trying things out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from citewell.errors import NotFound
from citewell.types import Resource

_PACKAGE = Path(__file__).parent.parent.parent
# A wheel has the samples inside the package, a clone beside it.
_FOLDERS = (_PACKAGE / "samples", _PACKAGE.parent / "samples")


class AddFile(Protocol):
    """Uploads a local file on behalf of an owner."""

    async def __call__(self, owner_id: str, path: Path, *, source: str) -> Resource:
        """The file's resource."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleService:
    """Adds the samples."""

    add_file: AddFile

    async def add(self, owner_id: str) -> list[str]:
        """Add the sample files to the owner's default project. Returns their resource ids by file name."""
        return [(await self.add_file(owner_id, path, source="sample")).id for path in sample_files()]


def sample_files() -> list[Path]:
    """The files that ship with Citewell, by name."""
    folder = next((folder for folder in _FOLDERS if folder.is_dir()), None)
    if folder is None:
        raise NotFound("This installation has no sample files.")
    return sorted(path for path in folder.iterdir() if path.is_file())
