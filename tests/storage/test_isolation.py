"""No method of storage gives, changes or deletes what another owner has. A method without a check here fails the tests.

Each check reaches from one owner (`ben`) for what the other (`ada`) has, by its real ids, and sees that the owner can.
"""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
import time
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa

import citewell.storage
from citewell.errors import Conflict, InvalidFilter, NotFound, QuestionsQuotaReached, SpendQuotaReached, TooLarge
from citewell.filters.language import parse_filters
from citewell.storage.accounts.audit import AuditRepository
from citewell.storage.accounts.members import InvitationRepository, MemberRepository
from citewell.storage.accounts.owner_data import EXPORTED, OwnerDataRepository
from citewell.storage.accounts.owners import OwnerRepository
from citewell.storage.accounts.service_accounts import ServiceAccountRepository
from citewell.storage.channels.claude_files import ClaudeFileRepository
from citewell.storage.channels.sources import SourceRepository
from citewell.storage.channels.telegram import (
    TelegramChatRepository,
    TelegramConversation,
    TelegramLinkRepository,
    TelegramPlace,
)
from citewell.storage.channels.triggers import TriggerRepository
from citewell.storage.channels.webhook_tables import webhook_deliveries
from citewell.storage.channels.webhooks import WebhookRepository
from citewell.storage.conversations.kept_answers import KeptAnswerRepository
from citewell.storage.conversations.memory import MemoryRepository
from citewell.storage.conversations.shared_answers import SharedAnswerRepository
from citewell.storage.conversations.threads import ThreadRepository
from citewell.storage.database import Database
from citewell.storage.files.contained import note_contained
from citewell.storage.files.content import ContentRepository, delete_elements, insert_chunks, insert_elements
from citewell.storage.files.densities import DensityRepository
from citewell.storage.files.expiry import ExpiryRepository
from citewell.storage.files.facets import FacetRepository
from citewell.storage.files.library import SqlLibrary
from citewell.storage.files.likenesses import LikenessRepository, PictureKey, replace_likenesses
from citewell.storage.files.metadata import FileChange, MetadataRepository
from citewell.storage.files.new_resources import insert_children
from citewell.storage.files.passages import SqlChunks
from citewell.storage.files.projects import ProjectRepository
from citewell.storage.files.records import Placing, RecordRepository, TextRecord
from citewell.storage.files.resources import ResourceRepository
from citewell.storage.files.table_copies import SqlTables
from citewell.storage.spending.quotas import FileRoom, QuotaRepository
from citewell.storage.spending.usage import UsageRepository
from citewell.storage.tables import metadata, resources
from citewell.storage.work.jobs import JobRepository
from citewell.storage.work.reprocessing import ReprocessingRepository
from citewell.types import (
    AskedOptions,
    ChunkPlace,
    ChunkType,
    Element,
    ElementType,
    EventType,
    Filter,
    Locator,
    OutgoingEvent,
    ReindexSelection,
    ResourceFilter,
    Scope,
    SearchRequest,
    Status,
    SyncItem,
    TriggerKind,
    UploadOptions,
    UploadOutcome,
    Usage,
    Webhook,
)
from citewell.types.accounts import PersonState, Role, ServiceAccount
from citewell.types.audit import AuditAction, AuditActor, AuditEntry, AuditFilter, AuditOutcome
from citewell.types.quotas import Quota
from tests.storage.estates import Estate, add_estate, new_chunk, new_citation, new_element, new_resource
from tests.storage.rows import owner_of

# Methods that take no owner, and why none can be reached with another owner's ids.
_CALLER_CHECKS = "by a resource's id, which the caller has from a method that takes the owner"
_WORKERS = "for workers and upkeep, which serve all owners and are given no ids by users"
_LIMITS = "a provider's limits hold for everybody who shares its key"
_OPENED = "by the id of a trigger that the caller's secret has opened, or the lease of its call"
_SHARED = "of no owner"
_PEOPLE = "by a person's or a session's id, which comes from the credential, or from an administrator"
_MEMBER = "by the member's own id, which comes from the credential: see test_members.py"
_SIGNING_IN = "for those who are not signed in yet; the secret, or the identity, says who they are"
_TELEGRAM = "for the bot, by ids that Telegram gives; each row says whose it is"
UNSCOPED: dict[str, str] = {
    "JobRepository.options": _WORKERS,
    "ContentRepository.blob": _CALLER_CHECKS,
    "ContentRepository.blobs": _CALLER_CHECKS,
    "ContentRepository.chunk_ids": _CALLER_CHECKS,
    "ContentRepository.passages": _CALLER_CHECKS,
    "ContentRepository.chunks_page": _CALLER_CHECKS,
    "ContentRepository.count_settled_chunks": _WORKERS,
    "ContentRepository.sample_chunks": _WORKERS,
    "ContentRepository.settled_resources": _WORKERS,
    "ContentRepository.elements_by_id": _CALLER_CHECKS,
    "ContentRepository.elements_page": _CALLER_CHECKS,
    "ContentRepository.iterate_chunks": _WORKERS,
    "ContentRepository.after": _CALLER_CHECKS,
    "ContentRepository.existing": _WORKERS,
    "ContentRepository.facts": _WORKERS,
    "ContentRepository.files_after": _WORKERS,
    "ContentRepository.owners": _WORKERS,
    "ContentRepository.iterate_elements": _CALLER_CHECKS,
    "ContentRepository.texts_with": _CALLER_CHECKS,
    "ProviderCallRepository.admit": _LIMITS,
    "ProviderCallRepository.answered": _LIMITS,
    "ProviderCallRepository.correct": _LIMITS,
    "ProviderCallRepository.reserve": _LIMITS,
    "ProviderCallRepository.spent": _LIMITS,
    "EmbeddingCacheRepository.get": _SHARED,
    "EmbeddingCacheRepository.put": _SHARED,
    "EventRepository.since": _CALLER_CHECKS,
    "EventRepository.newest": _CALLER_CHECKS,
    "FolderIdRepository.get": _SHARED,
    "FolderIdRepository.set": _SHARED,
    "FolderIdRepository.has_local_files": _SHARED,
    "TelegramLinkRepository.redeem": "the code says whose it is",
    "TelegramLinkRepository.count_guess": _SHARED,
    "TelegramLinkRepository.owner_of": "by a user's id, for which Telegram vouches",
    "TelegramLinkRepository.is_linked": "by a user's id, for which Telegram vouches",
    "TelegramInboxRepository.keep": _TELEGRAM,
    "TelegramInboxRepository.pending": _TELEGRAM,
    "TelegramInboxRepository.note": _TELEGRAM,
    "TelegramInboxRepository.tried": _TELEGRAM,
    "TelegramInboxRepository.done": _TELEGRAM,
    "TelegramInboxRepository.album": _TELEGRAM,
    "TelegramChatRepository.add_file": _TELEGRAM,
    "TelegramChatRepository.file": _TELEGRAM,
    "TelegramChatRepository.unfinished": _TELEGRAM,
    "TelegramChatRepository.sent": _TELEGRAM,
    "ExpiryRepository.due": _WORKERS,
    "ExpiryRepository.announce": _WORKERS,
    "ExpiryRepository.complete": _WORKERS,
    "ExpiryRepository.prune": _WORKERS,
    "TelegramChatRepository.change_file": _TELEGRAM,
    "TelegramChatRepository.may_be_told": _TELEGRAM,
    "IndexRepository.activate": _SHARED,
    "IndexRepository.active": _SHARED,
    "IndexRepository.all": _SHARED,
    "IndexRepository.create": _SHARED,
    "IndexRepository.delete": _SHARED,
    "IndexRepository.ensure_active": _SHARED,
    "IndexRepository.get": _SHARED,
    "IndexRepository.set_progress": _SHARED,
    "IndexRepository.set_paused": _SHARED,
    "IndexRepository.set_build": _SHARED,
    "IndexRepository.restart": _SHARED,
    "IndexRepository.release": _SHARED,
    "IndexRepository.place_at": _SHARED,
    "IndexRepository.note_problem": _SHARED,
    "IndexRepository.note_configured": _SHARED,
    "IndexRepository.note_behind": _SHARED,
    "IndexRepository.lease": _SHARED,
    "JobRepository.by_error": _WORKERS,
    "JobRepository.claim": _WORKERS,
    "JobRepository.claim_short": _WORKERS,
    "JobRepository.change": _WORKERS,
    "JobRepository.change_all": _WORKERS,
    "JobRepository.fenced": _WORKERS,
    "JobRepository.finish": _WORKERS,
    "JobRepository.finish_all": _WORKERS,
    "JobRepository.queue_ages": _WORKERS,
    "JobRepository.release_all": _WORKERS,
    "JobRepository.renew": _WORKERS,
    "JobRepository.note": _WORKERS,
    "JobRepository.note_all": _WORKERS,
    "JobRepository.retry_later": _WORKERS,
    "JobRepository.waiting": _WORKERS,
    "JobRepository.by_status": _WORKERS,
    "OwnerDataRepository.forget_vectors": _SHARED,
    "ContentRepository.count_of": _CALLER_CHECKS,
    "JobRepository.others_wait": _WORKERS,
    "JobRepository.pass_turn": _WORKERS,
    "JobRepository.resume_embedding": _WORKERS,
    "WaitingVectorRepository.among": "by ids of chunks that a search of the owner has found",
    "WaitingVectorRepository.next": _CALLER_CHECKS,
    "WaitingVectorRepository.prefer": "by ids of chunks that a search of the owner has found",
    "OwnerRepository.ensure": "makes owners",
    "OwnerRepository.principal_of": "finds the owner",
    "OwnerRepository.is_valid": "by the id of the token that a request under way came with",
    "PersonRepository.create": _SIGNING_IN,
    "PersonRepository.exist": _SIGNING_IN,
    "PersonRepository.by_email": _SIGNING_IN,
    "PersonRepository.by_identity": _SIGNING_IN,
    "PersonRepository.get": _PEOPLE,
    "PersonRepository.all": "for administrators",
    "PersonRepository.change": _PEOPLE,
    "PersonRepository.link": _PEOPLE,
    "PersonRepository.unlink": _PEOPLE,
    "PersonRepository.rehash": _SIGNING_IN,
    "PersonRepository.set_state": "for administrators",
    "SessionRepository.begin": _PEOPLE,
    "SessionRepository.rotate": _SIGNING_IN,
    "SessionRepository.person": _SIGNING_IN,
    "SessionRepository.all": _PEOPLE,
    "SessionRepository.end": _PEOPLE,
    "SessionRepository.end_by_token": _SIGNING_IN,
    "SessionRepository.end_all": _PEOPLE,
    "AttemptRepository.count": _SIGNING_IN,
    "AttemptRepository.forget": _SIGNING_IN,
    "AttemptRepository.take_back": _SIGNING_IN,
    "InvitationRepository.accept": _SIGNING_IN,
    "PasswordResetRepository.create": _SIGNING_IN,
    "PasswordResetRepository.person": _SIGNING_IN,
    "PasswordResetRepository.use": _SIGNING_IN,
    "MemberRepository.holding": _MEMBER,
    "MemberRepository.leave": _MEMBER,
    "MemberRepository.readable": _MEMBER,
    "MemberRepository.shared_with": _MEMBER,
    "AuditRepository.begin": "adds what says whose it is",
    "AuditRepository.add": "adds what says whose it is",
    "AuditRepository.finish_interrupted": _WORKERS,
    "AuditRepository.prune": _WORKERS,
    "SharedAnswerRepository.open": "by the secret of a link, which says whose answer it shows",
    "RecordRepository.mark_indexed": _WORKERS,
    "MemoryRepository.keep_vectors": "by ids of messages, which the caller has from a method that takes the owner",
    "UsageRepository.after": "sums what all owners use, for the server's metrics",
    "QuotaRepository.find_owner": "for the command line of the server: whom administrators mean",
    "PayloadChangeRepository.claim": _WORKERS,
    "PayloadChangeRepository.facts": _WORKERS,
    "PayloadChangeRepository.finish": _WORKERS,
    "PayloadChangeRepository.release": _WORKERS,
    "PayloadChangeRepository.waiting": _WORKERS,
    "DeliveryRepository.claim": _WORKERS,
    "DeliveryRepository.disable": _WORKERS,
    "DeliveryRepository.finish": _WORKERS,
    "DeliveryRepository.forget_old": _WORKERS,
    "DeliveryRepository.release": _WORKERS,
    "TriggerRepository.find": "finds the owner",
    "TriggerRepository.begin": _OPENED,
    "TriggerRepository.finish": _OPENED,
    "TriggerRepository.abandon": _OPENED,
    "ResourceRepository.known_blob_keys": _WORKERS,
    "ResourceRepository.languages": "counts the files of all owners",
    "ResourceRepository.unfinished_deletions": _WORKERS,
    "ResourceRepository.finish_deletion": _WORKERS,
}


@dataclass(frozen=True, slots=True)
class World:
    """A database with two owners who have the same things."""

    database: Database
    ada: Estate
    ben: Estate

    async def rows(self, owner: Estate) -> list[tuple[Any, ...]]:
        """Every row of every table that mentions one of the owner's ids, to compare before and after."""
        ids = {
            owner.owner,
            owner.project,
            owner.resource,
            owner.thread.id,
            owner.question.id,
            owner.answer.id,
            owner.token_id,
        }
        found: list[tuple[Any, ...]] = []
        for table in metadata.sorted_tables:
            for row in await self.database.rows(sa.select(table)):
                values = tuple(row.values())
                if any(isinstance(value, str) and value in ids for value in values):
                    found.append((table.name, *map(repr, values)))
        return sorted(found)

    @asynccontextmanager
    async def unchanged(self) -> AsyncGenerator[None]:
        """Fail when what ada has is different at the end of the block."""
        before = await self.rows(self.ada)
        yield
        assert await self.rows(self.ada) == before

    @asynccontextmanager
    async def refused(self) -> AsyncGenerator[None]:
        """The block must raise `NotFound`, and change nothing that ada has."""
        async with self.unchanged():
            with pytest.raises(NotFound):
                yield


Check = Callable[[World], Awaitable[None]]
ISOLATED: dict[str, Check] = {}


def isolates(method: Any) -> Callable[[Check], Check]:
    """Name the check of a method."""

    def register(check: Check) -> Check:
        ISOLATED[method.__qualname__] = check
        return check

    return register


@pytest.fixture
async def world(database: Database) -> World:
    return World(database, await add_estate(database, "ada"), await add_estate(database, "ben"))


# ---- The audit log ----


@isolates(AuditRepository.page)
async def _(world: World) -> None:
    audit = AuditRepository(world.database)
    entry = AuditEntry(
        at=time.time(),
        owner_id=world.ada.owner,
        actor=AuditActor.TOKEN,
        actor_id=world.ben.owner,
        action=AuditAction.FILE_READ,
        subject=world.ada.resource,
        outcome=AuditOutcome.DONE,
        request_id="r",
    )
    await audit.add([entry])
    wanted = AuditFilter(subject=world.ada.resource)
    assert await audit.page(world.ben.owner, wanted, 9) == ([], None)
    found, _ = await audit.page(world.ada.owner, wanted, 9)
    assert [one.request_id for one in found] == ["r"]


# ---- Webhooks ----

_EVENT = OutgoingEvent(type=EventType.SYNC_FINISHED, key="run", data={"source": "here"})


async def _webhook(world: World, of: Estate) -> tuple[WebhookRepository, Webhook]:
    webhooks = WebhookRepository(world.database)
    return webhooks, await webhooks.create(of.owner, "https://a.example/", [EventType.SYNC_FINISHED], "", "whsec_x")


@isolates(WebhookRepository.create)
async def _(world: World) -> None:
    _, hers = await _webhook(world, world.ada)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("citewell.storage.channels.webhooks.MAX_WEBHOOKS", 1)
        async with world.unchanged():
            webhooks, made = await _webhook(world, world.ben)
        with pytest.raises(Conflict):
            await _webhook(world, world.ben)
    assert made.owner_id == world.ben.owner
    assert await webhooks.all(world.ada.owner) == [hers]


@isolates(WebhookRepository.all)
async def _(world: World) -> None:
    webhooks, made = await _webhook(world, world.ada)
    assert await webhooks.all(world.ben.owner) == []
    assert await webhooks.all(world.ada.owner) == [made]


@isolates(WebhookRepository.get)
async def _(world: World) -> None:
    webhooks, made = await _webhook(world, world.ada)
    async with world.refused():
        await webhooks.get(world.ben.owner, made.id)
    assert await webhooks.get(world.ada.owner, made.id) == made


@isolates(WebhookRepository.change)
async def _(world: World) -> None:
    webhooks, made = await _webhook(world, world.ada)
    async with world.refused():
        await webhooks.change(world.ben.owner, made.id, url="https://b.example/")
    assert (await webhooks.change(world.ada.owner, made.id, enabled=False)).enabled is False


@isolates(WebhookRepository.delete)
async def _(world: World) -> None:
    webhooks, made = await _webhook(world, world.ada)
    async with world.refused():
        await webhooks.delete(world.ben.owner, made.id)
    await webhooks.delete(world.ada.owner, made.id)


@isolates(WebhookRepository.tell)
async def _(world: World) -> None:
    webhooks, _ = await _webhook(world, world.ada)
    async with world.unchanged():
        await webhooks.tell(world.ben.owner, _EVENT)
    await webhooks.tell(world.ada.owner, _EVENT)
    assert len((await webhooks.deliveries(world.ada.owner, None, None, 10, None))[0]) == 1


@isolates(WebhookRepository.tell_one)
async def _(world: World) -> None:
    webhooks, made = await _webhook(world, world.ada)
    async with world.refused():
        await webhooks.tell_one(world.ben.owner, made.id, _EVENT)
    assert (await webhooks.tell_one(world.ada.owner, made.id, _EVENT)).webhook_id == made.id


@isolates(WebhookRepository.delivery)
async def _(world: World) -> None:
    webhooks, made = await _webhook(world, world.ada)
    sent = await webhooks.tell_one(world.ada.owner, made.id, _EVENT)
    async with world.refused():
        await webhooks.delivery(world.ben.owner, sent.id)
    assert await webhooks.delivery(world.ada.owner, sent.id) == sent


@isolates(WebhookRepository.deliveries)
async def _(world: World) -> None:
    webhooks, made = await _webhook(world, world.ada)
    await webhooks.tell_one(world.ada.owner, made.id, _EVENT)
    assert await webhooks.deliveries(world.ben.owner, None, made.id, 10, None) == ([], None)
    assert len((await webhooks.deliveries(world.ada.owner, None, made.id, 10, None))[0]) == 1


@isolates(WebhookRepository.replay)
async def _(world: World) -> None:
    webhooks, made = await _webhook(world, world.ada)
    sent = await webhooks.tell_one(world.ada.owner, made.id, _EVENT)
    async with world.database.write() as connection:
        await connection.execute(sa.update(webhook_deliveries).values(state="dead"))
    async with world.unchanged():
        assert await webhooks.replay(world.ben.owner, delivery_id=sent.id) == 0
        assert await webhooks.replay(world.ben.owner, webhook_id=made.id) == 0
    assert await webhooks.replay(world.ada.owner, webhook_id=made.id) == 1


@isolates(TriggerRepository.create)
async def _(world: World) -> None:
    triggers = TriggerRepository(world.database)
    await triggers.create(world.ada.owner, TriggerKind.RESULT, "n8n", None, "hash")
    # One that has ended is removed when its own owner makes another.
    await triggers.create(world.ada.owner, TriggerKind.RESULT, "n8n", None, "hash", "no token")
    with pytest.MonkeyPatch.context() as patch:  # how many one may have does not depend on what others have
        patch.setattr("citewell.storage.channels.triggers.MAX_TRIGGERS", 1)
        async with world.unchanged():
            made = await triggers.create(world.ben.owner, TriggerKind.RESULT, "n8n", None, "hash")
        with pytest.raises(Conflict):
            await triggers.create(world.ben.owner, TriggerKind.RESULT, "another", None, "hash")
    assert made.owner_id == world.ben.owner


@isolates(TriggerRepository.all)
async def _(world: World) -> None:
    triggers = TriggerRepository(world.database)
    made = await triggers.create(world.ada.owner, TriggerKind.RESULT, "n8n", None, "hash")
    assert await triggers.all(world.ben.owner) == []
    assert await triggers.all(world.ada.owner) == [made]


@isolates(TriggerRepository.delete)
async def _(world: World) -> None:
    triggers = TriggerRepository(world.database)
    made = await triggers.create(world.ada.owner, TriggerKind.RESULT, "n8n", None, "hash")
    async with world.refused():
        await triggers.delete(world.ben.owner, made.id)
    await triggers.delete(world.ada.owner, made.id)
    assert await triggers.find(made.id) is None


# ---- Files at Anthropic ----


@isolates(ClaudeFileRepository.keep)
async def _(world: World) -> None:
    uploads = ClaudeFileRepository(world.database)
    await uploads.keep(world.ada.owner, world.ada.resource, 1, "file_a")
    async with world.refused():
        await uploads.keep(world.ben.owner, world.ada.resource, 1, "file_b")


@isolates(ClaudeFileRepository.find)
async def _(world: World) -> None:
    uploads = ClaudeFileRepository(world.database)
    await uploads.keep(world.ada.owner, world.ada.resource, 1, "file_a")
    assert await uploads.find(world.ben.owner, world.ada.resource, 1) is None
    assert await uploads.find(world.ada.owner, world.ada.resource, 1) == "file_a"


@isolates(ClaudeFileRepository.forget)
async def _(world: World) -> None:
    uploads = ClaudeFileRepository(world.database)
    await uploads.keep(world.ada.owner, world.ada.resource, 1, "file_a")
    async with world.unchanged():
        await uploads.forget(world.ben.owner, "file_a")
    await uploads.forget(world.ada.owner, "file_a")
    assert await uploads.find(world.ada.owner, world.ada.resource, 1) is None


@isolates(ClaudeFileRepository.all)
async def _(world: World) -> None:
    uploads = ClaudeFileRepository(world.database)
    await uploads.keep(world.ada.owner, world.ada.resource, 1, "file_a")
    assert await uploads.all(world.ben.owner) == []
    assert await uploads.all(world.ada.owner) == ["file_a"]


@isolates(ClaudeFileRepository.orphans)
async def _(world: World) -> None:
    uploads = ClaudeFileRepository(world.database)
    await uploads.keep(world.ada.owner, world.ada.resource, 1, "file_a")
    await ResourceRepository(world.database).delete(world.ada.owner, world.ada.resource)
    assert await uploads.orphans(world.ben.owner) == []
    assert await uploads.orphans(world.ada.owner) == [(world.ada.resource, "file_a")]


# ---- Owners ----


@isolates(OwnerRepository.create_token)
async def _(world: World) -> None:
    async with world.unchanged():
        _, secret = await OwnerRepository(world.database).create_token(world.ben.owner, "laptop")
    assert await owner_of(OwnerRepository(world.database), secret) == world.ben.owner


@isolates(OwnerRepository.adopt_token)
async def _(world: World) -> None:
    owners = OwnerRepository(world.database)
    async with world.unchanged():
        await owners.adopt_token(world.ben.owner, "mine now", world.ada.token)
    assert await owner_of(owners, world.ada.token) == world.ada.owner


@isolates(OwnerRepository.list_tokens)
async def _(world: World) -> None:
    listed = await OwnerRepository(world.database).list_tokens(world.ben.owner)
    assert [token.id for token in listed] == [world.ben.token_id]


@isolates(OwnerRepository.revoke_token)
async def _(world: World) -> None:
    owners = OwnerRepository(world.database)
    async with world.refused():
        await owners.revoke_token(world.ben.owner, world.ada.token_id)
    await owners.revoke_token(world.ada.owner, world.ada.token_id)
    assert await owner_of(owners, world.ada.token) is None
    assert await owner_of(owners, world.ben.token) == world.ben.owner


@isolates(OwnerRepository.rotate_token)
async def _(world: World) -> None:
    owners = OwnerRepository(world.database)
    async with world.refused():
        await owners.rotate_token(world.ben.owner, world.ada.token_id)
    _, secret = await owners.rotate_token(world.ada.owner, world.ada.token_id)
    assert await owner_of(owners, secret) == world.ada.owner
    assert await owner_of(owners, world.ada.token) is None
    assert await owner_of(owners, world.ben.token) == world.ben.owner


@isolates(OwnerRepository.count_request)
async def _(world: World) -> None:
    owners = OwnerRepository(world.database)
    await owners.count_request(world.ada.owner)
    async with world.unchanged():
        assert (await owners.count_request(world.ben.owner))[0] == 1


# ---- Sources ----


async def _source(world: World, owner: Estate) -> str:
    """A source of the same name for every owner, with one item that names the owner's file."""
    sources = SourceRepository(world.database)
    made = await sources.ensure(owner.owner, "frames", "folder", owner.project)
    await sources.keep(owner.owner, made.id, SyncItem(key="a", stamp=owner.owner, resource_id=owner.resource))
    return made.id


@isolates(SourceRepository.ensure)
async def _(world: World) -> None:
    hers = await _source(world, world.ada)
    async with world.unchanged():
        mine = await SourceRepository(world.database).ensure(world.ben.owner, "frames", "folder", world.ben.project)
    assert mine.id != hers
    assert mine.owner_id == world.ben.owner


@isolates(SourceRepository.get)
async def _(world: World) -> None:
    await _source(world, world.ada)
    async with world.refused():
        await SourceRepository(world.database).get(world.ben.owner, "frames")


@isolates(SourceRepository.all)
async def _(world: World) -> None:
    await _source(world, world.ada)
    assert await SourceRepository(world.database).all(world.ben.owner) == []
    mine = await _source(world, world.ben)
    assert [one.id for one in await SourceRepository(world.database).all(world.ben.owner)] == [mine]


@isolates(SourceRepository.finish)
async def _(world: World) -> None:
    await _source(world, world.ada)
    async with world.refused():
        await SourceRepository(world.database).finish(world.ben.owner, "frames", "stolen", {})


@isolates(SourceRepository.delete)
async def _(world: World) -> None:
    hers = await _source(world, world.ada)
    sources = SourceRepository(world.database)
    async with world.refused():
        await sources.delete(world.ben.owner, "frames")
    await _source(world, world.ben)
    async with world.unchanged():
        await sources.delete(world.ben.owner, "frames")
    assert await sources.item(world.ada.owner, hers, "a") is not None


@isolates(SourceRepository.items)
async def _(world: World) -> None:
    hers = await _source(world, world.ada)
    sources = SourceRepository(world.database)
    assert await sources.items(world.ben.owner, hers, 10) == ([], None)
    assert [item.key for item in (await sources.items(world.ada.owner, hers, 10))[0]] == ["a"]


@isolates(SourceRepository.item)
async def _(world: World) -> None:
    hers = await _source(world, world.ada)
    assert await SourceRepository(world.database).item(world.ben.owner, hers, "a") is None


@isolates(SourceRepository.keep)
async def _(world: World) -> None:
    hers, mine = await _source(world, world.ada), await _source(world, world.ben)
    sources = SourceRepository(world.database)
    await sources.keep(world.ben.owner, hers, SyncItem(key="a", stamp="stolen"))
    item = await sources.item(world.ada.owner, hers, "a")
    assert item is not None
    assert item.stamp == world.ada.owner
    await sources.keep(world.ben.owner, mine, SyncItem(key="b", stamp="x", resource_id=world.ada.resource))
    named = await sources.item(world.ben.owner, mine, "b")
    assert named is not None
    assert named.resource_id is None  # another owner's file is none


@isolates(SourceRepository.forget)
async def _(world: World) -> None:
    hers = await _source(world, world.ada)
    sources = SourceRepository(world.database)
    await sources.forget(world.ben.owner, hers, "a")
    assert await sources.item(world.ada.owner, hers, "a") is not None


# ---- Service accounts ----


async def _robots(world: World) -> tuple[ServiceAccount, ServiceAccount]:
    """One of ada's and one of ben's, with the same name, each a member of its manager's project."""
    made: list[ServiceAccount] = []
    for estate in (world.ada, world.ben):
        made.append(await ServiceAccountRepository(world.database).create(estate.owner, "robot"))
        await MemberRepository(world.database).set_role(estate.owner, estate.project, made[-1].acts_as, Role.EDITOR)
    return made[0], made[1]


@isolates(ServiceAccountRepository.create)
async def _(world: World) -> None:
    async with world.unchanged():
        made = await ServiceAccountRepository(world.database).create(world.ben.owner, "robot")
    assert (made.owner_id, made.projects) == (world.ben.owner, ())
    assert made.acts_as not in (world.ada.owner, world.ben.owner)


@isolates(ServiceAccountRepository.all)
async def _(world: World) -> None:
    _, his = await _robots(world)
    listed = await ServiceAccountRepository(world.database).all(world.ben.owner)
    assert [(one.id, [shared.id for shared in one.projects]) for one in listed] == [(his.id, [world.ben.project])]


@isolates(ServiceAccountRepository.get)
async def _(world: World) -> None:
    hers, _ = await _robots(world)
    found = ServiceAccountRepository(world.database)
    async with world.refused():
        await found.get(world.ben.owner, hers.id)
    assert (await found.get(world.ada.owner, hers.id)).id == hers.id


@isolates(ServiceAccountRepository.change)
async def _(world: World) -> None:
    hers, _ = await _robots(world)
    found = ServiceAccountRepository(world.database)
    async with world.refused():
        await found.change(world.ben.owner, hers.id, name="mine", state=PersonState.SUSPENDED)
    await found.change(world.ada.owner, hers.id, state=PersonState.SUSPENDED)
    assert (await found.get(world.ada.owner, hers.id)).state is PersonState.SUSPENDED
    assert (await found.all(world.ben.owner))[0].state is PersonState.ACTIVE


@isolates(ServiceAccountRepository.end)
async def _(world: World) -> None:
    hers, his = await _robots(world)
    found = ServiceAccountRepository(world.database)
    async with world.refused():
        await found.end(world.ben.owner, hers.id)
    await found.end(world.ada.owner, hers.id)
    members = MemberRepository(world.database)
    assert await members.shared_with(hers.acts_as) == []
    assert [one.id for one in await members.shared_with(his.acts_as)] == [world.ben.project]


@isolates(OwnerDataRepository.service_owners)
async def _(world: World) -> None:
    _, his = await _robots(world)
    assert await OwnerDataRepository(world.database).service_owners(world.ben.owner) == [his.acts_as]


# ---- Members and invitations ----


async def _member(world: World, name: str = "carl") -> str:
    """Somebody who is an editor of ada's project."""
    secret = (
        await InvitationRepository(world.database).create(world.ada.owner, 60, None, world.ada.project, Role.EDITOR)
    )[1]
    member = await OwnerRepository(world.database).ensure(name)
    await InvitationRepository(world.database).accept(member, f"{name}@example.org", secret)
    return member


@isolates(MemberRepository.all)
async def _(world: World) -> None:
    carl, members = await _member(world), MemberRepository(world.database)
    assert await members.all(world.ben.owner, world.ada.project) == []
    assert [one.owner_id for one in await members.all(world.ada.owner, world.ada.project)] == [carl]


@isolates(MemberRepository.set_role)
async def _(world: World) -> None:
    carl, dora, members = await _member(world), await _member(world, "dora"), MemberRepository(world.database)
    async with world.refused():
        await members.set_role(world.ben.owner, world.ada.project, carl, Role.VIEWER)
    await members.set_role(world.ada.owner, world.ada.project, carl, Role.VIEWER)
    roles = {one.owner_id: one.role for one in await members.all(world.ada.owner, world.ada.project)}
    assert roles == {carl: Role.VIEWER, dora: Role.EDITOR}


@isolates(MemberRepository.remove)
async def _(world: World) -> None:
    carl, dora, members = await _member(world), await _member(world, "dora"), MemberRepository(world.database)
    async with world.refused():
        await members.remove(world.ben.owner, world.ada.project, carl)
    await members.remove(world.ada.owner, world.ada.project, carl)
    assert await members.shared_with(carl) == []
    assert [one.owner_id for one in await members.all(world.ada.owner, world.ada.project)] == [dora]


async def test_who_leaves_a_project_ends_no_membership_but_their_own(world: World) -> None:
    carl, dora, members = await _member(world), await _member(world, "dora"), MemberRepository(world.database)
    await members.leave(carl, world.ada.project)
    assert [one.owner_id for one in await members.all(world.ada.owner, world.ada.project)] == [dora]


@isolates(InvitationRepository.create)
async def _(world: World) -> None:
    invitations = InvitationRepository(world.database)
    async with world.refused():
        await invitations.create(world.ben.owner, 60, None, world.ada.project, Role.VIEWER)
    made, _ = await invitations.create(world.ada.owner, 60, None, world.ada.project, Role.VIEWER)
    assert made.invited_by == world.ada.owner


@isolates(InvitationRepository.all)
async def _(world: World) -> None:
    invitations = InvitationRepository(world.database)
    made, _ = await invitations.create(world.ada.owner, 60, None, world.ada.project, Role.VIEWER)
    assert await invitations.all(world.ben.owner) == []
    assert await invitations.all(world.ada.owner) == [made]


@isolates(InvitationRepository.revoke)
async def _(world: World) -> None:
    invitations = InvitationRepository(world.database)
    made, _ = await invitations.create(world.ada.owner, 60, None, world.ada.project, Role.VIEWER)
    async with world.refused():
        await invitations.revoke(world.ben.owner, made.id)
    await invitations.revoke(world.ada.owner, made.id)
    assert await invitations.all(world.ada.owner) == []


# ---- Shared answers ----


@isolates(SharedAnswerRepository.create)
async def _(world: World) -> None:
    shared, ada, ben = SharedAnswerRepository(world.database), world.ada, world.ben
    for owner, thread, answer in (
        (ben.owner, ada.thread.id, ada.answer.id),
        (ben.owner, ben.thread.id, ada.answer.id),
        (ada.owner, ada.thread.id, ada.question.id),
    ):
        async with world.refused():
            await shared.create(owner, thread, answer, 60)
    _, secret = await shared.create(ada.owner, ada.thread.id, ada.answer.id, 60)
    assert [one.quote for one in (await shared.open(secret)).shown.passages] == ["Fees"]
    await shared.create(ada.owner, ada.thread.id, ada.answer.id, -60)
    async with world.unchanged():  # ben's next link clears away his expired ones, not hers
        await shared.create(ben.owner, ben.thread.id, ben.answer.id, 60)
    # An answer that cites a file of somebody else is nobody's to share, and a link to it is dead.
    async with world.database.write() as connection:
        await connection.execute(
            sa.update(resources).where(resources.c.id == ada.resource).values(owner_id=ben.owner, content_hash="moved")
        )
    with pytest.raises(Conflict):
        await shared.create(ada.owner, ada.thread.id, ada.answer.id, 60)
    with pytest.raises(NotFound):
        await shared.open(secret)


@isolates(SharedAnswerRepository.all)
async def _(world: World) -> None:
    shared = SharedAnswerRepository(world.database)
    made, _ = await shared.create(world.ada.owner, world.ada.thread.id, world.ada.answer.id, 60)
    assert await shared.all(world.ben.owner) == []
    assert await shared.all(world.ada.owner) == [made]


@isolates(SharedAnswerRepository.revoke)
async def _(world: World) -> None:
    shared = SharedAnswerRepository(world.database)
    made, secret = await shared.create(world.ada.owner, world.ada.thread.id, world.ada.answer.id, 60)
    async with world.refused():
        await shared.revoke(world.ben.owner, made.id)
    await shared.revoke(world.ada.owner, made.id)
    with pytest.raises(NotFound):
        await shared.open(secret)


# ---- What is remembered of conversations ----


async def _remembering_ada(world: World) -> MemoryRepository:
    """Ada's earlier conversations are searched, by the vector of her question."""
    memory = MemoryRepository(world.database)
    await memory.switch(world.ada.owner, True)
    await memory.keep_vectors("model", {world.ada.question.id: np.ones(3, dtype=np.float32)})
    return memory


@isolates(MemoryRepository.is_on)
async def _(world: World) -> None:
    memory = await _remembering_ada(world)
    assert not await memory.is_on(world.ben.owner)
    assert await memory.is_on(world.ada.owner)


@isolates(MemoryRepository.switch)
async def _(world: World) -> None:
    memory = await _remembering_ada(world)
    async with world.unchanged():
        await memory.switch(world.ben.owner, True)
        await memory.switch(world.ben.owner, False)
    assert await memory.is_on(world.ada.owner)
    await memory.switch(world.ada.owner, False)
    assert await memory.vectors("model", world.ada.owner) == {}


@isolates(MemoryRepository.exchanges)
async def _(world: World) -> None:
    memory = await _remembering_ada(world)
    (his,) = await memory.exchanges(world.ben.owner)
    assert (his.message_id, his.answer_id) == (world.ben.question.id, world.ben.answer.id)
    assert await memory.exchanges(world.ben.owner, but=world.ben.thread.id) == []
    (hers,) = await memory.exchanges(world.ada.owner)
    assert hers.cited == (world.ada.resource,)


@isolates(MemoryRepository.vectors)
async def _(world: World) -> None:
    memory = await _remembering_ada(world)
    assert await memory.vectors("model", world.ben.owner) == {}
    assert list(await memory.vectors("model", world.ada.owner)) == [world.ada.question.id]


def _kept(world: World) -> KeptAnswerRepository:
    return KeptAnswerRepository(world.database, ProjectRepository(world.database))


@isolates(KeptAnswerRepository.keep)
async def _(world: World) -> None:
    kept = _kept(world)
    async with world.unchanged():
        await kept.keep(world.ben.owner, "key", "What are the fees?", world.ada.answer.id)
    await kept.keep(world.ada.owner, "key", "What are the fees?", world.ada.answer.id)
    assert [one.message_id for one in await kept.find(world.ada.owner, "key")] == [world.ada.answer.id]


@isolates(KeptAnswerRepository.find)
async def _(world: World) -> None:
    kept = _kept(world)
    await kept.keep(world.ada.owner, "key", "What are the fees?", world.ada.answer.id)
    assert await kept.find(world.ben.owner, "key") == []
    assert [one.thread_id for one in await kept.find(world.ada.owner, "key")] == [world.ada.thread.id]


@isolates(KeptAnswerRepository.state)
async def _(world: World) -> None:
    kept = _kept(world)
    hers, his = [await kept.state(owner, Scope()) for owner in (world.ada.owner, world.ben.owner)]
    nothing = await kept.state(world.ben.owner, Scope(resource_ids=(str(uuid.uuid4()),)))
    assert await kept.state(world.ben.owner, Scope(resource_ids=(world.ada.resource,))) == nothing != his
    async with world.refused():
        await kept.state(world.ben.owner, Scope(project_ids=(world.ada.project,)))
    await ResourceRepository(world.database).create(new_resource(world.ada.owner, "another"), world.ada.project)
    assert await kept.state(world.ben.owner, Scope()) == his
    assert await kept.state(world.ada.owner, Scope()) != hers


# ---- Projects ----


@isolates(ProjectRepository.resolve)
async def _(world: World) -> None:
    projects = ProjectRepository(world.database)
    async with world.refused():
        await projects.resolve(world.ben.owner, world.ada.project)
    assert await projects.resolve(world.ben.owner, "Loans") == world.ben.project
    await projects.create(world.ada.owner, "Secret")
    async with world.refused():
        await projects.resolve(world.ben.owner, "Secret")
    async with world.unchanged():
        made = await projects.resolve(world.ben.owner, "Secret", create=True)
    assert (await projects.get(world.ben.owner, made)).owner_id == world.ben.owner


@isolates(ProjectRepository.create)
async def _(world: World) -> None:
    projects = ProjectRepository(world.database)
    await projects.create(world.ada.owner, "Secret")
    async with world.unchanged():
        made = await projects.create(world.ben.owner, "Secret")  # a name that only the other has is free
    assert made.owner_id == world.ben.owner


@isolates(ProjectRepository.all)
async def _(world: World) -> None:
    found = await ProjectRepository(world.database).all(world.ben.owner)
    assert {project.owner_id for project in found} == {world.ben.owner}
    assert [(p.name, p.resource_count) for p in found] == [("My files", 0), ("Loans", 1)]


@isolates(ProjectRepository.get)
async def _(world: World) -> None:
    projects = ProjectRepository(world.database)
    async with world.refused():
        await projects.get(world.ben.owner, world.ada.project)
    assert (await projects.get(world.ada.owner, world.ada.project)).settings == {"of": "ada"}


@isolates(ProjectRepository.settings)
async def _(world: World) -> None:
    projects = ProjectRepository(world.database)
    async with world.refused():
        await projects.settings(world.ben.owner, world.ada.project)
    assert await projects.settings(world.ada.owner, world.ada.project) == {"of": "ada"}


@isolates(ProjectRepository.chosen_indexes)
async def _(world: World) -> None:
    projects = ProjectRepository(world.database)
    await projects.change(world.ada.owner, world.ada.project, {"index": "voyage"})
    assert await projects.chosen_indexes(world.ben.owner) == {}
    assert await projects.chosen_indexes(world.ada.owner) == {world.ada.project: "voyage"}


@isolates(ProjectRepository.change)
async def _(world: World) -> None:
    projects = ProjectRepository(world.database)
    async with world.refused():
        await projects.change(world.ben.owner, world.ada.project, {"of": "ben"})
    async with world.unchanged():
        await projects.change(world.ben.owner, world.ben.project, {"of": "nobody"})
    assert (await projects.get(world.ben.owner, world.ben.project)).settings == {"of": "nobody"}


@isolates(ProjectRepository.delete)
async def _(world: World) -> None:
    projects = ProjectRepository(world.database)
    async with world.refused():
        await projects.delete(world.ben.owner, world.ada.project)
    async with world.unchanged():
        await projects.delete(world.ben.owner, world.ben.project)
    assert len(await projects.all(world.ben.owner)) == 1


@isolates(ProjectRepository.resolve_all)
async def _(world: World) -> None:
    projects = ProjectRepository(world.database)
    own = await projects.resolve_all(world.ben.owner, ["Loans", world.ben.project])
    assert own == (world.ben.project,)
    async with world.refused():
        await projects.resolve_all(world.ben.owner, ["Loans", world.ada.project])


@isolates(ProjectRepository.resource_ids)
async def _(world: World) -> None:
    projects = ProjectRepository(world.database)
    assert await projects.resource_ids(world.ben.owner, [world.ada.project]) == ()
    assert await projects.resource_ids(world.ada.owner, [world.ada.project]) == (world.ada.resource,)


@isolates(ProjectRepository.add)
async def _(world: World) -> None:
    projects = ProjectRepository(world.database)
    mine = (await projects.create(world.ben.owner, "Mine")).id
    hers = (await projects.create(world.ada.owner, "Hers")).id
    for project, resource in (
        (hers, world.ben.resource),
        (hers, world.ada.resource),
        (mine, world.ada.resource),
    ):
        async with world.refused():
            await projects.add(world.ben.owner, project, resource)
    # A record that ada's file is inside ben's does not take it along.
    async with world.database.write() as connection:
        await connection.run_sync(note_contained, world.ben.resource, [world.ada.resource])
    async with world.unchanged():
        await projects.add(world.ben.owner, mine, world.ben.resource)
    assert await projects.resource_ids(world.ben.owner, [mine]) == (world.ben.resource,)
    assert await projects.resource_ids(world.ada.owner, [hers]) == ()


@isolates(ProjectRepository.remove)
async def _(world: World) -> None:
    projects = ProjectRepository(world.database)
    for resource in (world.ada.resource, world.ben.resource):
        async with world.refused():
            await projects.remove(world.ben.owner, world.ada.project, resource)
    async with world.unchanged():
        assert not await projects.remove(world.ben.owner, world.ben.project, world.ada.resource)
        assert await projects.remove(world.ben.owner, world.ben.project, world.ben.resource)
    assert await projects.resource_ids(world.ben.owner, [world.ben.project]) == ()


@isolates(ProjectRepository.counts)
async def _(world: World) -> None:
    projects = ProjectRepository(world.database)
    assert await projects.counts(world.ben.owner, world.ada.project) == []
    for owner in (world.ada, world.ben):
        found = await projects.counts(owner.owner)
        assert found == [(owner.project, Status.INDEXED, 1, 100)]
        assert await projects.counts(owner.owner, owner.project) == found


# ---- Resources ----


@isolates(ResourceRepository.several)
async def _(world: World) -> None:
    found = ResourceRepository(world.database)
    both = (world.ada.resource, world.ben.resource)
    assert [resource.id for resource, _ in await found.several(world.ben.owner, both)] == [world.ben.resource]
    assert [resource.id for resource, _ in await found.several(world.ada.owner, both)] == [world.ada.resource]


@isolates(ResourceRepository.get)
async def _(world: World) -> None:
    found = ResourceRepository(world.database)
    async with world.refused():
        await found.get(world.ben.owner, world.ada.resource)
    assert (await found.get(world.ada.owner, world.ada.resource)).project_ids == (world.ada.project,)


@isolates(ResourceRepository.create)
async def _(world: World) -> None:
    found = ResourceRepository(world.database)
    await found.create(new_resource(world.ada.owner, "secret"), world.ada.project)
    async with world.unchanged():
        made, created = await found.create(new_resource(world.ben.owner, "secret"), world.ben.project)
    assert created
    assert made.owner_id == world.ben.owner
    async with world.refused():
        await found.create(new_resource(world.ben.owner, "more"), world.ada.project)
    assert await found.find_by_content(world.ben.owner, new_resource("", "more").content_hash) is None
    async with world.refused():
        await found.create(new_resource(world.ben.owner, "policy"), world.ada.project)


@isolates(ResourceRepository.projects_within)
async def _(world: World) -> None:
    kept = ResourceRepository(world.database)
    async with world.refused():
        await kept.projects_within(world.ben.owner, world.ada.resource)
    assert world.ada.project in await kept.projects_within(world.ada.owner, world.ada.resource)


@isolates(ResourceRepository.find_by_content)
async def _(world: World) -> None:
    found = ResourceRepository(world.database)
    await found.create(new_resource(world.ada.owner, "secret"), world.ada.project)
    content = new_resource("", "secret").content_hash
    assert await found.find_by_content(world.ben.owner, content) is None
    assert await found.find_by_content(world.ada.owner, content) is not None


@isolates(ResourceRepository.known_contents)
async def _(world: World) -> None:
    found = ResourceRepository(world.database)
    await found.create(new_resource(world.ada.owner, "secret"), world.ada.project)
    hashes = [new_resource("", content).content_hash for content in ("secret", "policy")]
    assert await found.known_contents(world.ben.owner, hashes) == {hashes[1]}
    assert await found.known_contents(world.ada.owner, hashes) == set(hashes)


@isolates(ResourceRepository.outside)
async def _(world: World) -> None:
    found, content = ResourceRepository(world.database), new_resource("", "secret").content_hash
    secret, _ = await found.create(new_resource(world.ada.owner, "secret"), "")
    names = [content, secret.id, world.ada.resource, world.ben.resource]
    assert await found.outside(world.ada.owner, names, [world.ada.project]) == {content, secret.id}
    assert await found.outside(world.ben.owner, names, []) == {world.ben.resource}


@isolates(ResourceRepository.page)
async def _(world: World) -> None:
    found, _ = await ResourceRepository(world.database).page(world.ben.owner, ResourceFilter(), 10, None)
    assert [resource.id for resource in found] == [world.ben.resource]
    for reach in (ResourceFilter(ids=(world.ada.resource,)), ResourceFilter(project_ids=(world.ada.project,))):
        assert await ResourceRepository(world.database).page(world.ben.owner, reach, 10, None) == ([], None)


@isolates(ResourceRepository.summaries)
async def _(world: World) -> None:
    found, _ = await ResourceRepository(world.database).summaries(world.ben.owner, ResourceFilter(), 10, None)
    assert [summary.resource.id for summary in found] == [world.ben.resource]
    reach = ResourceFilter(ids=(world.ada.resource,))
    assert await ResourceRepository(world.database).summaries(world.ben.owner, reach, 10, None) == ([], None)


@isolates(ResourceRepository.with_tables)
async def _(world: World) -> None:
    found = ResourceRepository(world.database)
    assert [r.id for r in await found.with_tables(world.ben.owner, ResourceFilter(), 10)] == [world.ben.resource]
    assert await found.with_tables(world.ben.owner, ResourceFilter(project_ids=(world.ada.project,)), 10) == []


@isolates(ResourceRepository.add_version)
async def _(world: World) -> None:
    found = ResourceRepository(world.database)
    await found.create(new_resource(world.ada.owner, "secret"), world.ada.project)
    async with world.refused():
        await found.add_version(world.ben.owner, world.ada.resource, new_resource(world.ben.owner, "newer"))
    async with world.unchanged():  # bytes that only the other has are no conflict
        changed = await found.add_version(world.ben.owner, world.ben.resource, new_resource(world.ben.owner, "secret"))
    assert (changed.version, changed.status) == (2, Status.UPLOADED)


@isolates(ResourceRepository.original)
async def _(world: World) -> None:
    found = ResourceRepository(world.database)
    for version in (None, 1):
        async with world.refused():
            await found.original(world.ben.owner, world.ada.resource, version)
        assert (await found.original(world.ada.owner, world.ada.resource, version)).key == "key of policy"


@isolates(ResourceRepository.delete)
async def _(world: World) -> None:
    found = ResourceRepository(world.database)
    async with world.refused():
        await found.delete(world.ben.owner, world.ada.resource)
    async with world.unchanged():
        receipt = await found.delete(world.ben.owner, world.ben.resource)
    assert receipt.resource_ids == (world.ben.resource,)
    assert (receipt.chunks, receipt.elements) == (2, 2)


@isolates(ResourceRepository.count_characters)
async def _(world: World) -> None:
    found = ResourceRepository(world.database)
    assert await found.count_characters(world.ben.owner, ResourceFilter()) == 100
    assert await found.count_characters(world.ben.owner, ResourceFilter(ids=(world.ada.resource,))) == 0
    assert await found.count_characters(world.ben.owner, ResourceFilter(project_ids=(world.ada.project,))) == 0
    assert await found.count_characters(world.ada.owner, ResourceFilter(ids=(world.ada.resource,))) == 100


@isolates(ResourceRepository.owned)
async def _(world: World) -> None:
    both = [world.ada.resource, world.ben.resource]
    assert await ResourceRepository(world.database).owned(world.ben.owner, both) == {world.ben.resource}


@isolates(ResourceRepository.counts)
async def _(world: World) -> None:
    assert await ResourceRepository(world.database).counts(world.ben.owner) == {"indexed": 1}


# ---- Content ----


@isolates(ContentRepository.load_chunks)
async def _(world: World) -> None:
    content = ContentRepository(world.database)
    ids = [chunk.id for chunk in world.ada.chunks]
    assert await content.load_chunks(world.ben.owner, ids) == {}
    assert set(await content.load_chunks(world.ada.owner, ids)) == set(ids)
    for stray in await _strays(world):
        for owner in (world.ada, world.ben):
            assert await content.load_chunks(owner.owner, [stray.id]) == {}


@isolates(ContentRepository.chunks_at)
async def _(world: World) -> None:
    content = ContentRepository(world.database)
    places = [(world.ada.resource, 1, 0), (world.ada.resource, 1, 1)]
    assert await content.chunks_at(world.ben.owner, places) == []
    assert len(await content.chunks_at(world.ada.owner, places)) == 2
    for stray in await _strays(world):
        for owner in (world.ada, world.ben):
            assert await content.chunks_at(owner.owner, [(stray.resource_id, 1, stray.ordinal)]) == []


async def _strays(world: World) -> list[Any]:
    """Chunks that say they are of one owner and lie in a resource of the other, as a fault would leave them."""
    strays = [new_chunk(world.ben.owner, world.ada.resource, 7), new_chunk(world.ada.owner, world.ben.resource, 7)]
    async with world.database.write() as connection:
        await connection.run_sync(insert_chunks, strays)
    return strays


@isolates(ContentRepository.neighbours)
async def _(world: World) -> None:
    content = ContentRepository(world.database)
    assert await content.neighbours(world.ben.owner, world.ada.resource, [0, 1]) == []
    assert await content.neighbours(world.ada.owner, world.ada.resource, [0, 1]) == list(world.ada.chunks)


@isolates(ContentRepository.count_chunks)
async def _(world: World) -> None:
    content = ContentRepository(world.database)
    await _strays(world)
    assert await content.count_chunks(world.ben.owner) == 3
    assert await content.count_chunks() == 6


# ---- Jobs ----


@isolates(JobRepository.requeue)
async def _(world: World) -> None:
    jobs = JobRepository(world.database)
    async with world.unchanged():
        assert not await jobs.requeue(world.ben.owner, world.ada.resource)
        assert await jobs.requeue(world.ben.owner, world.ben.resource)
    assert await jobs.requeue(world.ada.owner, world.ada.resource)


@isolates(JobRepository.restart)
async def _(world: World) -> None:
    jobs = JobRepository(world.database)
    async with world.database.write() as connection:
        await connection.execute(sa.update(resources).values(status=Status.FAILED))
    async with world.unchanged():
        assert not await jobs.restart(world.ben.owner, world.ada.resource, UploadOptions(password="x"))
        assert await jobs.restart(world.ben.owner, world.ben.resource, UploadOptions(password="x"))
    assert await jobs.restart(world.ada.owner, world.ada.resource, UploadOptions())


@isolates(ReprocessingRepository.ask)
async def _(world: World) -> None:
    again = ReprocessingRepository(world.database)
    async with world.database.write() as connection:
        await connection.execute(sa.update(resources).values(status=Status.FAILED))
    async with world.unchanged():
        assert await again.ask(world.ben.owner, world.ada.resource, AskedOptions(password="x")) is None
        assert await again.ask(world.ben.owner, world.ben.resource, AskedOptions(password="x"))
    assert await again.ask(world.ada.owner, world.ada.resource, AskedOptions()) is UploadOutcome.RETRIED


@isolates(ReprocessingRepository.asks_more)
async def _(world: World) -> None:
    again, other = ReprocessingRepository(world.database), AskedOptions(multimodal=True)
    async with world.unchanged():
        assert not await again.asks_more(world.ben.owner, world.ada.resource, other)
        assert await again.asks_more(world.ada.owner, world.ada.resource, other)
        assert not await again.asks_more(world.ada.owner, world.ada.resource, AskedOptions())


@isolates(ReprocessingRepository.begin)
async def _(world: World) -> None:
    again = ReprocessingRepository(world.database)
    async with world.unchanged():
        await again.begin(world.ben.owner, ReindexSelection())
    assert (await again.begin(world.ada.owner, ReindexSelection())).total


@isolates(ReprocessingRepository.run)
@isolates(ReprocessingRepository.latest)
async def _(world: World) -> None:
    again = ReprocessingRepository(world.database)
    run = await again.begin(world.ada.owner, ReindexSelection())
    assert (await again.run(world.ada.owner, run.id)).id == run.id
    assert [one.id for one in await again.latest(world.ada.owner, 9)] == [run.id]
    assert await again.latest(world.ben.owner, 9) == []
    with pytest.raises(NotFound):
        await again.run(world.ben.owner, run.id)


# ---- Records ----


@isolates(RecordRepository.plan)
async def _(world: World) -> None:
    record = _record("r1", "one")
    places = await _write_record(world, world.ada, record)
    records = RecordRepository(world.database)
    (other,) = await records.plan(world.ben.owner, [record])
    assert other.is_new
    assert other.resource_id != places[0].resource_id
    (again,) = await records.plan(world.ada.owner, [record])
    assert again.resource_id == places[0].resource_id


@isolates(RecordRepository.write)
async def _(world: World) -> None:
    records = RecordRepository(world.database)
    places = await _write_record(world, world.ada, _record("r1", "one"))
    changed = _record("r1", "changed by ben")
    (place,) = await records.plan(world.ada.owner, [changed])
    kept = ResourceRepository(world.database)
    before = await kept.get(world.ada.owner, places[0].resource_id)
    async with world.refused():
        await records.write(world.ben.owner, Placing(world.ben.project), [changed], [place], [new_element(0)], [])
    assert await kept.get(world.ada.owner, places[0].resource_id) == before
    assert await ContentRepository(world.database).chunk_ids(places[0].resource_id)
    async with world.refused():
        fresh = await records.plan(world.ben.owner, [_record("r2", "two")])
        await records.write(
            world.ben.owner, Placing(world.ada.project), [_record("r2", "two")], fresh, [new_element(0)], []
        )
    async with world.refused():  # nor is it put into a project of another owner's
        unchanged = replace(place, unchanged=True)
        await records.write(world.ben.owner, Placing(world.ben.project, joins=True), [changed], [unchanged], [], [])
    await records.write(world.ada.owner, Placing(world.ada.project), [changed], [place], [new_element(0)], [])
    assert (await kept.get(world.ada.owner, places[0].resource_id)).version == 2


def _record(record_id: str, text: str) -> TextRecord:
    return TextRecord(record_id=record_id, title=record_id, has_title=False, text=text, content_hash=text, metadata={})


async def _write_record(world: World, owner: Estate, record: TextRecord) -> Any:
    records = RecordRepository(world.database)
    places = await records.plan(owner.owner, [record])
    chunk = new_chunk(owner.owner, places[0].resource_id)
    await records.write(owner.owner, Placing(owner.project), [record], places, [new_element(0)], [chunk])
    return places


# ---- Threads ----


@isolates(ThreadRepository.create)
async def _(world: World) -> None:
    threads = ThreadRepository(world.database)
    async with world.unchanged():
        made = await threads.create(world.ben.owner, "About fees", {})
    assert (await threads.get(world.ben.owner, made.id)).owner_id == world.ben.owner


@isolates(ThreadRepository.get)
async def _(world: World) -> None:
    threads = ThreadRepository(world.database)
    async with world.refused():
        await threads.get(world.ben.owner, world.ada.thread.id)
    assert (await threads.get(world.ada.owner, world.ada.thread.id)).title == "About fees"


@isolates(ThreadRepository.page)
async def _(world: World) -> None:
    threads = ThreadRepository(world.database)
    for search in (None, "about", "what are the FEES"):
        found, _ = await threads.page(world.ben.owner, 10, None, search)
        assert [thread.id for thread in found] == [world.ben.thread.id]
    await threads.append(world.ada.owner, world.ada.thread.id, "user", "a secret word")
    assert await threads.page(world.ben.owner, 10, None, "secret") == ([], None)
    assert len((await threads.page(world.ada.owner, 10, None, "secret"))[0]) == 1


@isolates(ThreadRepository.thread_of)
async def _(world: World) -> None:
    threads = ThreadRepository(world.database)
    async with world.refused():
        await threads.thread_of(world.ben.owner, world.ada.answer.id)
    assert await threads.thread_of(world.ada.owner, world.ada.answer.id) == world.ada.thread.id


@isolates(ThreadRepository.asked)
async def _(world: World) -> None:
    threads = ThreadRepository(world.database)
    cited = [
        {chunk_id for one in await threads.asked(owner, 10) for chunk_id in one.cited}
        for owner in (world.ada.owner, world.ben.owner)
    ]
    assert cited[0]
    assert not cited[0] & cited[1]
    # In a project that is shared, an answer may cite a passage of another owner.
    thread = await threads.create(world.ben.owner, "shared", {})
    await threads.append(world.ben.owner, thread.id, "user", "What does Ada say?")
    await threads.append(world.ben.owner, thread.id, "assistant", "It is due [1].", [new_citation(world.ada.chunks[0])])
    said = [one.question for owner in (world.ada.owner, world.ben.owner) for one in await threads.asked(owner, 10)]
    assert "What does Ada say?" not in said


@isolates(ThreadRepository.update)
async def _(world: World) -> None:
    threads = ThreadRepository(world.database)
    async with world.refused():
        await threads.update(world.ben.owner, world.ada.thread.id, title="taken")
    async with world.unchanged():
        assert (await threads.update(world.ben.owner, world.ben.thread.id, title="mine")).title == "mine"


@isolates(ThreadRepository.delete)
async def _(world: World) -> None:
    threads = ThreadRepository(world.database)
    async with world.refused():
        await threads.delete(world.ben.owner, world.ada.thread.id)
    async with world.unchanged():
        await threads.delete(world.ben.owner, world.ben.thread.id)
    assert await threads.page(world.ben.owner, 10, None) == ([], None)


@isolates(ThreadRepository.append)
async def _(world: World) -> None:
    threads = ThreadRepository(world.database)
    async with world.refused():
        await threads.append(world.ben.owner, world.ada.thread.id, "user", "hello")
    async with world.unchanged():
        await threads.append(world.ben.owner, world.ben.thread.id, "user", "hello")
    assert len(await threads.messages(world.ben.owner, world.ben.thread.id)) == 3


@isolates(ThreadRepository.messages)
async def _(world: World) -> None:
    threads = ThreadRepository(world.database)
    async with world.refused():
        await threads.messages(world.ben.owner, world.ada.thread.id)
    found = await threads.messages(world.ben.owner, world.ben.thread.id)
    assert [message.id for message in found] == [world.ben.question.id, world.ben.answer.id]


@isolates(ThreadRepository.cut)
async def _(world: World) -> None:
    threads = ThreadRepository(world.database)
    for thread in (world.ada.thread.id, world.ben.thread.id):  # by the other's thread, and by one's own
        async with world.refused():
            await threads.cut(world.ben.owner, thread, world.ada.question.id)
    async with world.unchanged():
        await threads.cut(world.ben.owner, world.ben.thread.id, world.ben.question.id)
    assert await threads.messages(world.ben.owner, world.ben.thread.id) == []


@isolates(ThreadRepository.rate)
async def _(world: World) -> None:
    threads = ThreadRepository(world.database)
    for thread in (world.ada.thread.id, world.ben.thread.id):
        async with world.refused():
            await threads.rate(world.ben.owner, thread, world.ada.answer.id, {"rating": "down"})
    async with world.unchanged():
        await threads.rate(world.ben.owner, world.ben.thread.id, world.ben.answer.id, {"rating": "down"})
    rated = (await threads.messages(world.ben.owner, world.ben.thread.id))[1]
    assert rated.details["feedback"] == {"rating": "down"}


# ---- Usage ----


@isolates(UsageRepository.add)
async def _(world: World) -> None:
    usage = UsageRepository(world.database)
    async with world.unchanged():
        await usage.add(
            world.ben.owner, [Usage(kind="chat", provider="p", model="m", input_tokens=7)], "another thread"
        )
    assert sum(row["input_tokens"] for row in await usage.totals(world.ben.owner)) == 12  # type: ignore[misc]


@isolates(UsageRepository.totals)
async def _(world: World) -> None:
    usage = UsageRepository(world.database)
    for by in ("day", "thread", "message"):
        (row,) = await usage.totals(world.ben.owner, by=by)
        assert row["input_tokens"] == 5
    assert await usage.totals(world.ben.owner, thread_id=world.ada.thread.id) == []
    assert len(await usage.totals(world.ada.owner, thread_id=world.ada.thread.id)) == 1


# ---- What search and the agent read ----


def _chunks(world: World) -> SqlChunks:
    database = world.database
    return SqlChunks(ContentRepository(database), ProjectRepository(database), MetadataRepository(database))


def _library(world: World) -> SqlLibrary:
    database = world.database
    parts = ResourceRepository(database), ProjectRepository(database), ContentRepository(database)
    return SqlLibrary(*parts, MetadataRepository(database))


def _tables(world: World) -> SqlTables:
    database = world.database
    parts = ResourceRepository(database), ProjectRepository(database), ContentRepository(database)
    return SqlTables(*parts, _Blobs(), Path("never-used"))  # type: ignore[arg-type]


class _Blobs:
    backend = "local"

    @asynccontextmanager
    async def local_copy(self, key: str) -> AsyncGenerator[Path]:
        yield Path(key)


@isolates(SqlChunks.load)
async def _(world: World) -> None:
    ids = [chunk.id for chunk in (*world.ada.chunks, *world.ben.chunks)]
    assert set(await _chunks(world).load(world.ben.owner, ids)) == {chunk.id for chunk in world.ben.chunks}


@isolates(SqlChunks.at)
async def _(world: World) -> None:
    places = [ChunkPlace(world.ada.resource, 1, 0), ChunkPlace(world.ben.resource, 1, 0)]
    assert set(await _chunks(world).at(world.ben.owner, places)) == {places[1]}


@isolates(SqlChunks.passages)
async def _(world: World) -> None:
    types = list(ChunkType)
    assert await _chunks(world).passages(world.ben.owner, world.ada.resource, types, 10) == []
    assert len(await _chunks(world).passages(world.ada.owner, world.ada.resource, types, 10)) > 0


@isolates(SqlChunks.resolve_scope)
async def _(world: World) -> None:
    async with world.refused():
        await _chunks(world).resolve_scope(
            SearchRequest(owner_id=world.ben.owner, query="q", projects=(world.ada.project,))
        )
    mine = SearchRequest(owner_id=world.ben.owner, query="q", projects=("Loans",), resource_ids=None)
    found = await _chunks(world).resolve_scope(mine)
    assert found == Filter(owner_id=world.ben.owner, resource_ids=(world.ben.resource,), corpus=(world.ben.resource,))


@isolates(SqlChunks.metadata_keys)
async def _(world: World) -> None:
    await _describe_ada(world)
    assert await _chunks(world).metadata_keys(world.ben.owner, None, 0.0) == []
    assert await _chunks(world).metadata_keys(world.ben.owner, [world.ada.resource], 0.0) == []


@isolates(SqlChunks.keys_within)
async def _(world: World) -> None:
    await _describe_ada(world)
    assert await _chunks(world).keys_within(world.ben.owner, None, 0.0) == []
    for seconds in (0.0, 60.0):
        theirs = await _chunks(world).keys_within(world.ada.owner, [world.ada.project], seconds)
        assert [key.name for key in theirs] == ["camera"]
        assert await _chunks(world).keys_within(world.ben.owner, [world.ada.project], seconds) == []


async def _describe_ada(world: World) -> None:
    said = FileChange(metadata=lambda _: {"camera": "Leica"}, identifier="policy")
    assert await MetadataRepository(world.database).change(world.ada.owner, world.ada.resource, said) is not None


@isolates(MetadataRepository.change)
async def _(world: World) -> None:
    async with world.refused():
        said = FileChange(metadata=lambda _: {"camera": "Canon"})
        await MetadataRepository(world.database).change(world.ben.owner, world.ada.resource, said)


@isolates(MetadataRepository.resolve)
async def _(world: World) -> None:
    await _describe_ada(world)
    metadata = MetadataRepository(world.database)
    assert await metadata.resolve(world.ada.owner, ["Policy"]) == (world.ada.resource,)
    for name in ("policy", world.ada.resource):
        async with world.refused():
            await metadata.resolve(world.ben.owner, [name])
    async with world.refused():
        await metadata.resolve(world.ben.owner, ["policy"], [world.ada.project])
    empty = (await ProjectRepository(world.database).create(world.ada.owner, "Empty")).id
    for name in ("policy", world.ada.resource):
        assert await metadata.resolve(world.ada.owner, [name], [world.ada.project]) == (world.ada.resource,)
        async with world.refused():
            await metadata.resolve(world.ada.owner, [name], [empty])


@isolates(MetadataRepository.keys)
async def _(world: World) -> None:
    await _describe_ada(world)
    metadata = MetadataRepository(world.database)
    assert [key.name for key in await metadata.keys(world.ada.owner)] == ["camera"]
    assert await metadata.keys(world.ben.owner) == []
    assert await metadata.keys(world.ben.owner, [world.ada.resource]) == []
    many = [world.ada.resource, *(f"file {n}" for n in range(600))]  # more than are looked up by their ids
    assert [key.name for key in await metadata.keys(world.ada.owner, many)] == ["camera"]
    assert await metadata.keys(world.ben.owner, many) == []


@isolates(MetadataRepository.keys_within)
async def _(world: World) -> None:
    await _describe_ada(world)
    metadata = MetadataRepository(world.database)
    assert [key.name for key in await metadata.keys_within(world.ada.owner, [world.ada.project])] == ["camera"]
    assert await metadata.keys_within(world.ben.owner, [world.ada.project, world.ben.project]) == []


@isolates(MetadataRepository.require_keys)
async def _(world: World) -> None:
    await _describe_ada(world)
    metadata, camera = MetadataRepository(world.database), parse_filters([{"field": "metadata.camera", "value": "X"}])
    for kept_to in (None, [world.ada.project]):
        await metadata.require_keys(world.ada.owner, camera, kept_to)
        with pytest.raises(InvalidFilter) as refused:
            await metadata.require_keys(world.ben.owner, camera, kept_to)
        assert refused.value.details == {"allowed": []}


@isolates(MetadataRepository.recent_keys)
async def _(world: World) -> None:
    await _describe_ada(world)
    metadata = MetadataRepository(world.database)
    for seconds in (0.0, 60.0, 60.0):
        theirs = await metadata.recent_keys(world.ada.owner, await metadata.revision(world.ada.owner), seconds)
        assert "camera" in {key.name for key in theirs}
        mine = await metadata.recent_keys(world.ben.owner, await metadata.revision(world.ben.owner), seconds)
        assert mine == []


@isolates(MetadataRepository.narrowed)
async def _(world: World) -> None:
    await _describe_ada(world)
    metadata, text = MetadataRepository(world.database), parse_filters([{"field": "type", "value": "txt"}])
    narrowed = await metadata.narrowed(world.ben.owner, Scope(resource_ids=(world.ada.resource,)), text, None)
    assert narrowed.resource_ids == ()
    everywhere = await metadata.narrowed(world.ben.owner, Scope(), text, None)
    assert world.ada.resource not in (everywhere.resource_ids or ())
    with pytest.raises(InvalidFilter):
        await metadata.narrowed(
            world.ben.owner, Scope(), parse_filters([{"field": "metadata.camera", "value": "Leica"}]), None
        )


@isolates(SqlLibrary.narrowed)
async def _(world: World) -> None:
    everything = parse_filters([{"field": "uploaded_at", "operator": "exists"}])
    narrowed = await _library(world).narrowed(world.ben.owner, Scope(), everything)
    assert world.ben.resource in (narrowed.resource_ids or ())
    assert world.ada.resource not in (narrowed.resource_ids or ())


@isolates(MetadataRepository.with_contained)
async def _(world: World) -> None:
    member = new_resource(world.ada.owner, "inside", parent_id=world.ada.resource)
    async with world.database.write() as connection:
        await connection.run_sync(insert_children, [member], "", FileRoom())
        # Noted in the wrong place: the owner still decides.
        await connection.run_sync(note_contained, world.ben.resource, [member.id])
    metadata = MetadataRepository(world.database)
    assert await metadata.with_contained(world.ada.owner, [world.ada.resource]) == (world.ada.resource, member.id)
    for known in (world.ada.resource, world.ben.resource):
        assert await metadata.with_contained(world.ben.owner, [known]) == (known,)


@isolates(ProjectRepository.named_within)
async def _(world: World) -> None:
    projects = ProjectRepository(world.database)
    scope = Scope(project_ids=(world.ada.project,), resource_ids=(world.ada.resource,))
    assert await projects.named_within(world.ada.owner, scope) == (world.ada.resource,)
    with pytest.raises(NotFound):
        await projects.named_within(world.ben.owner, scope)
    mixed = Scope(project_ids=(world.ben.project,), resource_ids=(world.ada.resource,))
    assert await projects.named_within(world.ben.owner, mixed) == ()


@isolates(DensityRepository.measure)
async def _(world: World) -> None:
    densities = DensityRepository(world.database)
    async with world.database.write() as connection:
        await connection.execute(
            sa.update(resources).where(resources.c.id == world.ada.resource).values(filename="a.md", indexed_at=1.0)
        )
    (theirs,) = await densities.measure(world.ada.owner, ["md"])
    assert theirs.tokens > 0
    assert await densities.measure(world.ben.owner, ["md"]) == []
    assert await densities.measure(world.ada.owner, ["md"], [world.ada.project]) == [theirs]
    assert await densities.measure(world.ada.owner, ["md"], [world.ben.project]) == []


@isolates(FacetRepository.facets)
async def _(world: World) -> None:
    await _describe_ada(world)
    facets = FacetRepository(world.database)
    for narrowed in (ResourceFilter(), ResourceFilter(project_ids=(world.ada.project,))):
        found = await facets.facets(world.ada.owner, narrowed, 20)
        assert found.files == 1
        assert "metadata.camera" in {facet.field for facet in found.fields}
    mine = await facets.facets(world.ben.owner, ResourceFilter(), 20)
    assert mine.files == 1
    assert "metadata.camera" not in {facet.field for facet in mine.fields}
    for narrowed in (
        ResourceFilter(project_ids=(world.ada.project,)),
        ResourceFilter(ids=(world.ada.resource,)),
        ResourceFilter(conditions=parse_filters([{"field": "metadata.camera", "value": "Leica"}])),
        ResourceFilter(conditions=parse_filters([{"field": "project", "value": world.ada.project}])),
    ):
        none = await facets.facets(world.ben.owner, narrowed, 20)
        assert (none.files, none.fields) == (0, ())


@isolates(MetadataRepository.revision)
async def _(world: World) -> None:
    metadata = MetadataRepository(world.database)
    before = await metadata.revision(world.ben.owner)
    said = FileChange(metadata=lambda _: {"camera": "Canon"})
    await metadata.change(world.ada.owner, world.ada.resource, said)
    await ResourceRepository(world.database).create(new_resource(world.ada.owner, "another"), world.ada.project)
    assert await metadata.revision(world.ben.owner) == before


@isolates(MetadataRepository.facts)
async def _(world: World) -> None:
    found = await MetadataRepository(world.database).facts(world.ben.owner, [world.ada.resource, world.ben.resource])
    assert set(found) == {world.ben.resource}


@isolates(MetadataRepository.filtered_ids)
async def _(world: World) -> None:
    metadata = MetadataRepository(world.database)
    assert await metadata.filtered_ids(world.ben.owner, ResourceFilter()) == (world.ben.resource,)
    for narrowed in (
        ResourceFilter(project_ids=(world.ada.project,)),
        ResourceFilter(conditions=parse_filters([{"field": "project", "value": world.ada.project}])),
    ):
        assert await metadata.filtered_ids(world.ben.owner, narrowed) == ()


@isolates(SqlLibrary.list_resources)
async def _(world: World) -> None:
    library = _library(world)
    assert [r.id for r in await library.list_resources(world.ben.owner, Scope())] == [world.ben.resource]
    for scope in (Scope(resource_ids=(world.ada.resource,)), Scope(project_ids=(world.ada.project,))):
        async with world.refused():
            await library.list_resources(world.ben.owner, scope)
        assert [r.id for r in await library.list_resources(world.ada.owner, scope)] == [world.ada.resource]


@isolates(SqlLibrary.count_characters)
async def _(world: World) -> None:
    library = _library(world)
    scope = Scope(resource_ids=(world.ada.resource,))
    assert await library.count_characters(world.ada.owner, scope) == 100
    assert await library.count_characters(world.ben.owner, scope) == 0  # though just counted for the other
    async with world.refused():
        await library.count_characters(world.ben.owner, Scope(project_ids=(world.ada.project,)))


@isolates(SqlLibrary.read_resource)
async def _(world: World) -> None:
    async with world.refused():
        await _library(world).read_resource(world.ben.owner, world.ada.resource, 1, 10)
    found = await _library(world).read_resource(world.ada.owner, world.ada.resource, 1, 10)
    assert found[0].text == "Fees of ada"


@isolates(SqlLibrary.page_file)
async def _(world: World) -> None:
    async with world.refused():
        await _library(world).page_file(world.ben.owner, world.ada.resource)
    assert (await _library(world).page_file(world.ada.owner, world.ada.resource)).id == world.ada.resource


@isolates(SqlLibrary.page_tables)
async def _(world: World) -> None:
    async with world.refused():
        await _library(world).page_tables(world.ben.owner, world.ada.resource, 5)
    assert [e.type for e in await _library(world).page_tables(world.ada.owner, world.ada.resource, 5)] == []


@isolates(SqlLibrary.page_mentions)
async def _(world: World) -> None:
    async with world.refused():
        await _library(world).page_mentions(world.ben.owner, world.ada.resource, ("fees of",), 5)
    found = await _library(world).page_mentions(world.ada.owner, world.ada.resource, ("fees of",), 5)
    assert list(found) == ["Fees of ada"]


@isolates(SqlLibrary.elements)
async def _(world: World) -> None:
    async with world.refused():
        await _library(world).elements(world.ben.owner, world.ada.resource, 1, ["e0"])
    assert (await _library(world).elements(world.ada.owner, world.ada.resource, 1, ["e0"]))["e0"].text == "Fees of ada"


@isolates(SqlTables.list_tables)
async def _(world: World) -> None:
    tables = _tables(world)
    assert [t.resource_id for t in await tables.list_tables(world.ben.owner, Scope())] == [world.ben.resource]
    for scope in (Scope(resource_ids=(world.ada.resource,)), Scope(project_ids=(world.ada.project,))):
        async with world.refused():
            await tables.list_tables(world.ben.owner, scope)
        assert [t.resource_id for t in await tables.list_tables(world.ada.owner, scope)] == [world.ada.resource]


@isolates(SqlTables.open_table)
async def _(world: World) -> None:
    tables = _tables(world)
    (table,) = await tables.list_tables(world.ada.owner, Scope())
    async with world.refused():
        await tables.open_table(world.ben.owner, table)
    assert await tables.open_table(world.ada.owner, table) == Path("blob table-0.parquet")


# ---- Telegram ----

ADA_WRITES = TelegramPlace(chat_id=42, topic_id=0, user_id=42)


@isolates(TelegramLinkRepository.add_code)
async def _(world: World) -> None:
    links = TelegramLinkRepository(world.database)
    await links.add_code(world.ada.owner, "code of ada", time.time() + 60)
    async with world.unchanged():
        await links.add_code(world.ben.owner, "code of ben", time.time() + 60)
    assert await links.redeem(42, "Ada", "code of ada") == world.ada.owner


@isolates(TelegramLinkRepository.links)
async def _(world: World) -> None:
    links = await _linked_ada(world)
    assert await links.links(world.ben.owner) == []
    assert [one.user_id for one in await links.links(world.ada.owner)] == [42]


@isolates(TelegramLinkRepository.unlink)
async def _(world: World) -> None:
    links = await _linked_ada(world)
    async with world.refused():
        await links.unlink(world.ben.owner, 42)
    await links.unlink(world.ada.owner, 42)
    assert await links.owner_of(42) is None


async def _linked_ada(world: World) -> TelegramLinkRepository:
    links = TelegramLinkRepository(world.database)
    await links.add_code(world.ada.owner, "code of ada", time.time() + 60)
    await links.redeem(42, "Ada", "code of ada")
    return links


@isolates(TelegramChatRepository.conversation)
async def _(world: World) -> None:
    chats = await _talking_ada(world)
    assert (await chats.conversation(world.ada.owner, ADA_WRITES)).thread_id == world.ada.thread.id
    assert await chats.conversation(world.ben.owner, ADA_WRITES) == TelegramConversation()


@isolates(TelegramChatRepository.keep_conversation)
async def _(world: World) -> None:
    chats = await _talking_ada(world)
    async with world.unchanged():
        await chats.keep_conversation(world.ben.owner, ADA_WRITES, TelegramConversation(scope={"here": True}))


@isolates(TelegramChatRepository.leave)
async def _(world: World) -> None:
    chats = await _talking_ada(world)
    async with world.unchanged():
        await chats.leave(world.ben.owner, 42)
    await chats.leave(world.ada.owner, 42)
    assert await chats.conversation(world.ada.owner, ADA_WRITES) == TelegramConversation()


# ---- Lifetimes ----


@isolates(ExpiryRepository.set)
async def _(world: World) -> None:
    expiry = ExpiryRepository(world.database)
    async with world.unchanged():
        with pytest.raises(NotFound):
            await expiry.set(world.ben.owner, world.ada.resource, 9.0)


@isolates(ExpiryRepository.prolong)
async def _(world: World) -> None:
    expiry = ExpiryRepository(world.database)
    await expiry.set(world.ada.owner, world.ada.resource, 5.0)
    async with world.unchanged():
        await expiry.prolong(world.ben.owner, world.ada.resource, 9.0)
    await expiry.prolong(world.ada.owner, world.ada.resource, 9.0)
    assert [file.expires_at for file in await expiry.due(10.0)] == [9.0]


@isolates(ExpiryRepository.receipts)
async def _(world: World) -> None:
    await ResourceRepository(world.database).delete(world.ada.owner, world.ada.resource, has_expired=True)
    expiry = ExpiryRepository(world.database)
    assert await expiry.receipts(world.ben.owner, 9, None) == ([], None)
    (hers,), _ = await expiry.receipts(world.ada.owner, 9, None)
    assert hers.resource_id == world.ada.resource


@isolates(LikenessRepository.of)
async def _(world: World) -> None:
    likenesses = await _pictured_ada(world)
    assert await likenesses.of(world.ben.owner, world.ada.resource, None) is None
    assert await likenesses.of(world.ben.owner, world.ada.resource, "e0") is None
    assert await likenesses.of(world.ada.owner, world.ada.resource, "e0") == b"hers"


@isolates(LikenessRepository.newest)
async def _(world: World) -> None:
    likenesses = await _pictured_ada(world)

    async def seen(owner: str, narrowed: ResourceFilter) -> list[bytes]:
        return [data async for some in likenesses.newest(owner, narrowed) for _, data in some]

    for narrowed in (ResourceFilter(), ResourceFilter(ids=(world.ada.resource,))):
        assert await seen(world.ada.owner, narrowed) == [b"hers"]
        assert await seen(world.ben.owner, narrowed) == []
    assert await seen(world.ada.owner, ResourceFilter(ids=())) == []


@isolates(LikenessRepository.placed)
async def _(world: World) -> None:
    likenesses = await _pictured_ada(world)
    key = PictureKey(world.ada.resource, "e0")
    assert await likenesses.placed(world.ben.owner, [key]) == {}
    assert key in await likenesses.placed(world.ada.owner, [key])


@isolates(LikenessRepository.beside)
async def _(world: World) -> None:
    likenesses = await _pictured_ada(world)
    place = (world.ada.resource, 0, 9)
    assert await likenesses.beside(world.ben.owner, [place]) == {}
    assert place in await likenesses.beside(world.ada.owner, [place])


async def _pictured_ada(world: World) -> LikenessRepository:
    """Ada's file is a picture that can be compared."""
    element = Element(id="e0", type=ElementType.IMAGE, text="", locator=Locator())

    def keep(connection: sa.Connection) -> None:
        delete_elements(connection, world.ada.resource, 1)
        insert_elements(connection, world.ada.resource, 1, [(0, element, json.dumps(element.to_json()))])
        replace_likenesses(connection, world.ada.resource, 1, {"e0": b"hers"})
        hers = resources.c.id == world.ada.resource
        connection.execute(sa.update(resources).where(hers).values(detected_category="image", version=1))

    await world.database.change(keep)
    return LikenessRepository(world.database)


async def _talking_ada(world: World) -> TelegramChatRepository:
    chats = TelegramChatRepository(world.database)
    await chats.keep_conversation(world.ada.owner, ADA_WRITES, TelegramConversation(thread_id=world.ada.thread.id))
    return chats


# ---- Quotas ----


async def _hers_used_up(world: World) -> QuotaRepository:
    """Quotas by which ada, and only she, has all that she may have."""
    quotas = QuotaRepository(world.database)
    await quotas.change(world.ada.owner, dict.fromkeys(Quota, 0.0))
    return quotas


@isolates(QuotaRepository.change)
async def _(world: World) -> None:
    quotas = await _hers_used_up(world)
    async with world.unchanged():
        await quotas.change(world.ben.owner, {Quota.FILES: 3.0})
        await quotas.change(world.ben.owner, {Quota.BYTES: None})
    assert await quotas.own(world.ben.owner) == {Quota.BYTES: None}


@isolates(QuotaRepository.own)
async def _(world: World) -> None:
    quotas = await _hers_used_up(world)
    assert await quotas.own(world.ben.owner) == {}
    assert await quotas.own(world.ada.owner) == dict.fromkeys(Quota, 0.0)


@isolates(QuotaRepository.standings)
async def _(world: World) -> None:
    quotas = QuotaRepository(world.database)
    before = await quotas.standings(world.ben.owner)
    await quotas.change(world.ada.owner, {Quota.QUESTIONS: 99.0, Quota.FILES: 9.0})
    await quotas.count_question(world.ada.owner)
    await UsageRepository(world.database).add(world.ada.owner, [Usage(kind="chat", provider="p", model="m", cost=1.0)])
    await ResourceRepository(world.database).create(new_resource(world.ada.owner, "another"), world.ada.project)
    assert await quotas.standings(world.ben.owner) == before
    hers = await quotas.standings(world.ada.owner)
    assert all(one.used > his.used for one, his in zip(hers, before, strict=True))


@isolates(QuotaRepository.file_room)
async def _(world: World) -> None:
    quotas = await _hers_used_up(world)
    async with world.database.write() as connection:
        (await connection.run_sync(quotas.file_room, world.ben.owner)).take(1, 1)
        with pytest.raises(TooLarge):
            (await connection.run_sync(quotas.file_room, world.ada.owner)).take(1, 1)


@isolates(QuotaRepository.require_room)
async def _(world: World) -> None:
    quotas = await _hers_used_up(world)
    await quotas.require_room(world.ben.owner, 1, 1)
    with pytest.raises(TooLarge):
        await quotas.require_room(world.ada.owner, 1, 1)


@isolates(QuotaRepository.upload_bound)
async def _(world: World) -> None:
    quotas = await _hers_used_up(world)
    assert await quotas.upload_bound(world.ben.owner) is None
    await quotas.change(world.ben.owner, {Quota.BYTES: 100_000.0})
    before = await quotas.upload_bound(world.ben.owner)
    await quotas.change(world.ada.owner, {Quota.BYTES: 1_000.0})
    await ResourceRepository(world.database).create(new_resource(world.ada.owner, "another"), world.ada.project)
    assert before is not None
    bound = await quotas.upload_bound(world.ben.owner)
    assert bound is not None
    assert bound.most_bytes == before.most_bytes


@isolates(QuotaRepository.count_question)
async def _(world: World) -> None:
    quotas = await _hers_used_up(world)
    async with world.unchanged():
        await quotas.count_question(world.ben.owner)
        await quotas.change(world.ben.owner, {Quota.QUESTIONS: 5.0})
        await quotas.count_question(world.ben.owner)
    with pytest.raises(QuestionsQuotaReached):
        await quotas.count_question(world.ada.owner)


@isolates(QuotaRepository.require_spend)
async def _(world: World) -> None:
    quotas = await _hers_used_up(world)
    await quotas.change(world.ben.owner, {Quota.SPEND: 0.5})
    await UsageRepository(world.database).add(world.ada.owner, [Usage(kind="chat", provider="p", model="m", cost=1.0)])
    await quotas.require_spend(world.ben.owner)
    with pytest.raises(SpendQuotaReached):
        await quotas.require_spend(world.ada.owner)


# ---- What belongs to an owner ----


@isolates(OwnerDataRepository.counts)
async def _(world: World) -> None:
    data = OwnerDataRepository(world.database)
    assert await data.counts(world.ada.owner) == await data.counts(world.ben.owner) != {}
    assert await data.counts("nobody") == {}


@isolates(OwnerDataRepository.rows)
async def _(world: World) -> None:
    data, found = OwnerDataRepository(world.database), set[Any]()
    for table in EXPORTED:
        async for row in data.rows(world.ben.owner, table):
            found |= {value for value in row.values() if isinstance(value, str)}
    assert {world.ben.resource, world.ben.answer.id} <= found
    assert not {world.ada.owner, world.ada.resource, world.ada.thread.id, world.ada.answer.id} & found


@isolates(OwnerDataRepository.withdraw_quotations)
async def _(world: World) -> None:
    async with world.unchanged():
        found = await OwnerDataRepository(world.database).withdraw_quotations(world.ben.owner)
    assert (found.citations, found.answers) == (0, 0)


@isolates(OwnerDataRepository.resource_ids)
async def _(world: World) -> None:
    found = await OwnerDataRepository(world.database).resource_ids(world.ben.owner, inside_others=True)
    assert world.ben.resource in found
    assert world.ada.resource not in found


@isolates(OwnerDataRepository.originals)
async def _(world: World) -> None:
    found = await OwnerDataRepository(world.database).originals(world.ben.owner)
    assert {one.resource_id for one in found} == {world.ben.resource}


@isolates(OwnerDataRepository.erase)
async def _(world: World) -> None:
    data = OwnerDataRepository(world.database)
    async with world.unchanged():
        await data.erase(world.ben.owner, keep_access=True)
        assert set(await data.counts(world.ben.owner)) == {"tokens", "projects"}
        await data.erase(world.ben.owner, keep_access=False)
    assert await data.counts(world.ben.owner) == {}


# ---- The checks run, and none is missing ----


@pytest.mark.parametrize("method", sorted(ISOLATED))
async def test_no_owner_reaches_what_another_has(world: World, method: str) -> None:
    await ISOLATED[method](world)


async def test_a_child_with_another_owners_bytes_is_a_resource_of_ones_own(world: World) -> None:
    """As files inside files are: by a function, which is handed the transaction of its caller."""
    found = ResourceRepository(world.database)
    theirs, _ = await found.create(new_resource(world.ada.owner, "secret"), world.ada.project)
    child = new_resource(world.ben.owner, "secret")
    async with world.unchanged(), world.database.write() as connection:
        inserted = await connection.run_sync(insert_children, [child], world.ben.project, FileRoom())
    assert inserted.made == {child.id}
    assert await found.find_by_content(world.ben.owner, child.content_hash) == child.id
    assert await found.find_by_content(world.ada.owner, child.content_hash) == theirs.id


def _methods() -> dict[str, Any]:
    """The public methods of every class of storage that reads or writes rows."""
    found: dict[str, Any] = {}
    for module in pkgutil.walk_packages(citewell.storage.__path__, "citewell.storage."):
        if ".migrations" in module.name:
            continue
        for name, kind in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if kind.__module__ == module.name and (name.endswith("Repository") or name.startswith("Sql")):
                methods = inspect.getmembers(kind, inspect.isfunction)
                found |= {f"{name}.{m}": function for m, function in methods if not m.startswith("_")}
    return found


def test_every_method_is_checked_or_said_to_take_no_owner() -> None:
    methods = _methods()
    assert len(methods) > 60
    assert set(ISOLATED) | set(UNSCOPED) == set(methods)
    assert not set(ISOLATED) & set(UNSCOPED)


def test_every_check_is_run() -> None:
    """A check that is defined below the test that runs them would not be."""
    [runs] = vars(test_no_owner_reaches_what_another_has)["pytestmark"]
    assert runs.args[1] == sorted(ISOLATED)


def test_a_method_that_takes_an_owner_is_checked() -> None:
    scoped = {name for name, method in _methods().items() if "owner_id" in inspect.signature(method).parameters}
    assert len(scoped) > 40
    assert scoped <= set(ISOLATED)
