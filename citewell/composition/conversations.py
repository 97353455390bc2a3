"""Puts together the questions of threads: earlier conversations, answers that are given again, and the service that asks."""

from __future__ import annotations

from citewell.composition.configured import comparison_embedder
from citewell.composition.stores import Stores
from citewell.features.chat.repeated import RepeatedAnswers
from citewell.features.chat.service import ChatService
from citewell.features.memory.service import MemoryService
from citewell.features.search.service import SearchService
from citewell.features.turns import TurnRunner
from citewell.indexes.index_set import IndexSet
from citewell.retrieve.conversations import ConversationSearch
from citewell.settings import Settings
from citewell.storage.conversations.kept_answers import KeptAnswerRepository
from citewell.storage.conversations.memory import MemoryRepository
from citewell.storage.conversations.threads import ThreadRepository


def conversation_search(stores: Stores, indexes: IndexSet) -> ConversationSearch:
    """The search of earlier conversations, with the built-in embedder: their words go to no vendor."""
    return ConversationSearch(MemoryRepository(stores.database), comparison_embedder(indexes, stores.database))


def memory_service(stores: Stores, conversations: ConversationSearch, turns: TurnRunner) -> MemoryService:
    """Who lets conversations be searched."""
    return MemoryService(repository=MemoryRepository(stores.database), conversations=conversations, later=turns.later)


def chat_service(
    settings: Settings,
    stores: Stores,
    indexes: IndexSet,
    turns: TurnRunner,
    threads: ThreadRepository,
    search: SearchService,
    conversations: ConversationSearch,
) -> ChatService:
    """The questions of threads."""
    kept = KeptAnswerRepository(stores.database, stores.projects)
    repeated = RepeatedAnswers(kept=kept, threads=threads, embedder=comparison_embedder(indexes, stores.database))
    return ChatService(
        turns=turns,
        threads=threads,
        indexes=indexes,
        can_rerank=search.reranker is not None,
        options=search.options,
        model_problem=settings.chat.missing_key,
        memory=conversations,
        repeated=repeated if settings.answers.repeats else None,
    )
