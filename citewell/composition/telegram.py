"""What the Telegram bot is made of."""

from __future__ import annotations

from citewell.composition.stores import Stores
from citewell.features.telegram.service import TelegramService
from citewell.ingest.page_views import PageViews
from citewell.ingest.parsers import ParserPool
from citewell.ports import BlobStore
from citewell.settings import Settings
from citewell.storage.channels.telegram import TelegramChatRepository, TelegramInboxRepository, TelegramLinkRepository
from citewell.types import ExtractOptions


def telegram_service(settings: Settings, stores: Stores, blobs: BlobStore, parsers: ParserPool) -> TelegramService:
    """Links, updates and chats of the bot, and pages to show."""
    return TelegramService(
        repository=TelegramLinkRepository(stores.database),
        inbox=TelegramInboxRepository(stores.database),
        chats=TelegramChatRepository(stores.database),
        owners=stores.owners,
        pages=_page_views(settings, stores, blobs, parsers),
        everyone=settings.telegram.access == "everyone",
    )


def _page_views(settings: Settings, stores: Stores, blobs: BlobStore, parsers: ParserPool) -> PageViews:
    return PageViews(
        resources=stores.resources,
        blobs=blobs,
        parsers=parsers,
        scratch=settings.data / "scratch",
        limits=ExtractOptions(max_pages=settings.parser.max_pages, max_pixels=settings.parser.max_pixels),
    )
