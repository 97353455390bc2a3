"""Files at Anthropic: uploaded once and only when asked for, found again, renewed, and deleted with the file, whatever ends in between."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import anthropic
import pytest

from citewell import AsyncCitewell, Citewell
from citewell.channels.claude_uploads import AsyncClaudeUploads, ClaudeUploads
from citewell.errors import InvalidInput, NotFound
from citewell.types import UploadOptions
from citewell.types.accounts import ERASURE_CONFIRMATION
from tests.contract_servers.anthropic import KEY, AnthropicServer
from tests.contract_servers.anthropic_files import AnthropicFiles
from tests.contract_servers.serving import serving

pytestmark = pytest.mark.full

TEXT = "The lamp of the lighthouse turns once every twelve seconds.\n"


@pytest.fixture
def api() -> Iterator[tuple[AnthropicFiles, str]]:
    server = AnthropicServer()
    with serving(server.app) as url:
        yield server.files, url


@pytest.fixture
async def claude(api: tuple[AnthropicFiles, str]) -> AsyncIterator[anthropic.AsyncAnthropic]:
    async with anthropic.AsyncAnthropic(api_key=KEY, base_url=api[1], max_retries=2) as client:
        yield client


@pytest.fixture
def at(api: tuple[AnthropicFiles, str]) -> AnthropicFiles:
    return api[0]


def _lamp(folder: Path, text: str = TEXT) -> Path:
    path = folder / "Lamp.md"
    path.write_text(text)
    return path


async def test_a_file_is_uploaded_once_and_its_metadata_name_the_upload(
    tmp_path: Path, at: AnthropicFiles, claude: anthropic.AsyncAnthropic
) -> None:
    async with AsyncCitewell(tmp_path / "data") as citewell:
        lamp = await citewell.add(_lamp(tmp_path))
        assert at.calls == []
        uploads = AsyncClaudeUploads(citewell, claude)
        first = await uploads.ensure(lamp.id)
        assert (at.stored[first].filename, at.stored[first].content) == ("Lamp.md", TEXT.encode())
        assert at.stored[first].mime_type.startswith("text/")
        assert at.stored[first].expires_at is not None
        assert await AsyncClaudeUploads(citewell, claude).ensure(lamp.id) == first
        (hit, *_) = await citewell.search("lamp", conditions=[{"field": "metadata.claude_file_id", "value": first}])
        assert hit.metadata["claude_file_id"] == first
        assert [method for method, _ in at.calls] == ["POST", "GET"]


async def test_erasing_everything_deletes_the_uploads_or_says_which_stay(
    tmp_path: Path, at: AnthropicFiles, claude: anthropic.AsyncAnthropic
) -> None:
    async with AsyncCitewell(tmp_path / "data") as citewell:
        uploads = AsyncClaudeUploads(citewell, claude)
        lamp, other = tmp_path / "a" / "Lamp.md", tmp_path / "Other.md"
        lamp.parent.mkdir()
        lamp.write_text(TEXT)
        other.write_text("The meadow is mown in June.")
        await uploads.ensure((await citewell.add(lamp)).id)
        await uploads.ensure((await citewell.add(other)).id)
        with pytest.raises(InvalidInput, match="Nothing was erased"):
            await uploads.erase("yes")
        assert len(at.stored) == 2
        at.failing = [500] * 3
        with pytest.raises(anthropic.InternalServerError):
            await uploads.erase(ERASURE_CONFIRMATION)
        assert len([one async for one in citewell.resources()]) == 2
        receipt = await uploads.erase(ERASURE_CONFIRMATION)
        assert at.stored == {}
        assert receipt.complete
        assert not [place for place in receipt.not_looked_into if "Anthropic" in place]
        assert [one async for one in citewell.resources()] == []

        kept = await uploads.ensure((await citewell.add(lamp)).id)
        receipt = await citewell.erase(ERASURE_CONFIRMATION)  # without the key
        (said,) = [place for place in receipt.not_looked_into if "Anthropic" in place]
        assert kept in said
        assert list(at.stored) == [kept]


async def test_two_tasks_upload_a_file_once(
    tmp_path: Path, at: AnthropicFiles, claude: anthropic.AsyncAnthropic
) -> None:
    async with AsyncCitewell(tmp_path / "data") as citewell:
        lamp = await citewell.add(_lamp(tmp_path))
        uploads = AsyncClaudeUploads(citewell, claude)
        assert len(set(await asyncio.gather(*(uploads.ensure(lamp.id) for _ in range(4))))) == 1
        assert len(at.stored) == 1


async def test_what_has_expired_or_is_gone_is_uploaded_again(
    tmp_path: Path, at: AnthropicFiles, claude: anthropic.AsyncAnthropic
) -> None:
    async with AsyncCitewell(tmp_path / "data") as citewell:
        lamp = await citewell.add(_lamp(tmp_path))
        uploads = AsyncClaudeUploads(citewell, claude)
        first = await uploads.ensure(lamp.id)
        at.expire(first)
        second = await uploads.ensure(lamp.id)
        assert list(at.stored) == [second]
        at.stored.clear()
        third = await uploads.ensure(lamp.id)
        assert list(at.stored) == [third]
        assert len({first, second, third}) == 3
        (resource,) = [one async for one in citewell.resources()]
        assert resource.metadata["claude_file_id"] == third


async def test_an_upload_is_deleted_with_its_file_also_by_the_next_process(
    tmp_path: Path, at: AnthropicFiles, claude: anthropic.AsyncAnthropic
) -> None:
    async with AsyncCitewell(tmp_path / "data") as citewell:
        uploads = AsyncClaudeUploads(citewell, claude)
        lamp = await citewell.add(_lamp(tmp_path))
        await uploads.ensure(lamp.id)
        await uploads.delete(lamp.id)
        assert at.stored == {}
        again = await citewell.add(_lamp(tmp_path))
        kept = await uploads.ensure(again.id)
        at.failing = [500] * 3
        with pytest.raises(anthropic.InternalServerError):
            await uploads.delete(again.id)
        assert list(at.stored) == [kept]
    async with AsyncCitewell(tmp_path / "data") as citewell:
        assert await AsyncClaudeUploads(citewell, claude).sweep() == 1
        assert at.stored == {}
        assert await AsyncClaudeUploads(citewell, claude).sweep() == 0


async def test_a_deletion_that_could_not_be_noted_is_done_again(
    tmp_path: Path, at: AnthropicFiles, claude: anthropic.AsyncAnthropic
) -> None:
    async with AsyncCitewell(tmp_path / "data") as citewell:
        uploads = AsyncClaudeUploads(citewell, claude)
        lamp = await citewell.add(_lamp(tmp_path))
        await uploads.ensure(lamp.id)
        await citewell.delete(lamp.id)
        at.stored.clear()
        assert await uploads.sweep() == 1
        assert await uploads.sweep() == 0


async def test_a_new_version_has_an_upload_of_its_own(
    tmp_path: Path, at: AnthropicFiles, claude: anthropic.AsyncAnthropic
) -> None:
    async with AsyncCitewell(tmp_path / "data") as citewell:
        uploads = AsyncClaudeUploads(citewell, claude)
        lamp = await citewell.add(_lamp(tmp_path), identifier="lamp")
        services = citewell._services
        first = await uploads.ensure("lamp")
        with services.resources.capture.open_spool() as spool:
            spool.write(b"The lamp turns once every thirty seconds.")
            again = spool.finish()
        owner = services.local_owner
        changed = await services.resources.replace(owner, lamp.id, again, "Lamp.md", UploadOptions())
        await services.resources.wait(owner, lamp.id)
        assert (changed.id, changed.version) == (lamp.id, 2)
        second = await uploads.ensure("lamp")
        assert second != first
        assert list(at.stored) == [second]
        assert b"thirty" in at.stored[second].content
        (resource,) = [one async for one in citewell.resources()]
        assert resource.metadata["claude_file_id"] == second


async def test_too_many_requests_are_waited_for_and_other_refusals_are_raised(
    tmp_path: Path, api: tuple[AnthropicFiles, str], claude: anthropic.AsyncAnthropic
) -> None:
    at, url = api
    async with AsyncCitewell(tmp_path / "data") as citewell:
        lamp = await citewell.add(_lamp(tmp_path))
        at.failing = [429, 429]
        assert await AsyncClaudeUploads(citewell, claude).ensure(lamp.id) in at.stored
        async with anthropic.AsyncAnthropic(api_key="sk-ant-wrong", base_url=url) as wrong:
            with pytest.raises(anthropic.AuthenticationError):
                await AsyncClaudeUploads(citewell, wrong).ensure(lamp.id)
        assert len(at.stored) == 1


async def test_a_name_that_the_api_forbids_is_changed_for_it(
    tmp_path: Path, at: AnthropicFiles, claude: anthropic.AsyncAnthropic
) -> None:
    hostile = tmp_path / ('What? "<1>|2' + "n" * 100 + ".md")
    hostile.write_text(TEXT)
    async with AsyncCitewell(tmp_path / "data") as citewell:
        lamp = await citewell.add(hostile)
        file_id = await AsyncClaudeUploads(citewell, claude).ensure(lamp.id)
        assert at.stored[file_id].filename == "What_ __1__2" + "n" * 100 + ".md"


async def test_what_is_not_there_is_not_uploaded(
    tmp_path: Path, at: AnthropicFiles, claude: anthropic.AsyncAnthropic
) -> None:
    async with AsyncCitewell(tmp_path / "data") as citewell:
        with pytest.raises(NotFound):
            await AsyncClaudeUploads(citewell, claude).ensure("no such file")
        with pytest.raises(InvalidInput, match="expires_in_seconds"):
            AsyncClaudeUploads(citewell, claude, expires_in_seconds=60)
        assert at.calls == []


def test_the_same_as_plain_calls(tmp_path: Path, api: tuple[AnthropicFiles, str]) -> None:
    at, url = api
    with Citewell(tmp_path / "data") as citewell, anthropic.Anthropic(api_key=KEY, base_url=url) as claude:
        lamp = citewell.add(_lamp(tmp_path))
        uploads = ClaudeUploads(citewell, claude, expires_in_seconds=3_600)
        first = uploads.ensure(lamp.id)
        assert uploads.ensure(lamp.id) == first
        assert uploads.sweep() == 0
        uploads.delete(lamp.id)
        assert at.stored == {}
