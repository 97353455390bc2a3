"""The assistant over what is open. Apart, as all modules of the agent are loaded with it: by the first turn, or while the server prepares for it."""

from __future__ import annotations

from citewell.agent.graph import Assistant
from citewell.agent.interface import AnswerReader, Conversations, MessageModel, TableReader
from citewell.agent.model.assistant import Budget
from citewell.agent.tables.run.copies import CopyReader
from citewell.agent.whole.written import WholeBudget
from citewell.composition.chat_models import UsedModel, answer_seconds
from citewell.composition.stores import Stores
from citewell.features.resources.contents import ResourceContents
from citewell.features.search.service import SearchService
from citewell.ports import Embedder
from citewell.settings import NoChat, Settings
from citewell.storage.files.library import SqlLibrary
from citewell.storage.files.passages import SqlChunks
from citewell.storage.files.table_copies import SqlTables
from citewell.text.correction import Speller
from citewell.types import FirstSearch


def build_assistant(
    settings: Settings,
    stores: Stores,
    *,
    embedder: Embedder,
    across: Embedder,
    reader: AnswerReader,
    table_reader: TableReader,
    message_model: MessageModel,
    speller: Speller,
    search: SearchService,
    tables: SqlTables,
    copies: CopyReader,
    pictures: ResourceContents,
    conversations: Conversations,
    used: UsedModel | None,
) -> Assistant:
    """The assistant that answers with a chat model, or with none. embedder: for what it compares; across: for what of it is in another language than the question; reader: for answers without a model; table_reader: for questions about tables; message_model: for what messages want; speller: for those without a model."""
    library = SqlLibrary(stores.resources, stores.projects, stores.content, stores.metadata)
    budget, whole_budget = answer_budgets(settings, is_own=used is not None and used.known.is_own)
    return Assistant(
        search,
        embedder,
        library=library,
        elements=library,
        tables=tables,
        copies=copies,
        page_tables=library,
        vocabulary=search,
        files=SqlChunks(stores.content, stores.projects, stores.metadata),
        pictures=pictures,
        conversations=conversations,
        whole_budget=whole_budget,
        chat_model=None if used is None else used.model,
        known=None if used is None else used.known,
        budget=budget,
        first_search=FirstSearch(settings.answers.first_search),
        answer_reader=reader,
        across=across,
        table_reader=table_reader,
        message_model=message_model,
        speller=speller,
    )


def answer_budgets(settings: Settings, *, is_own: bool = False) -> tuple[Budget, WholeBudget]:
    """What one answer from passages may use, and one about whole documents. is_own: of a model at your own address."""
    chat, answers = settings.chat, settings.answers
    length = None if isinstance(chat, NoChat) else chat.max_tokens
    temperature = 0.0 if isinstance(chat, NoChat) else chat.temperature or 0.0
    return (
        Budget(
            context_tokens=answers.context_tokens,
            seconds=answer_seconds(settings, is_own=is_own),
            answer_tokens=length,
            temperature=temperature,
        ),
        WholeBudget(tokens=answers.whole_tokens, answer_tokens=length, temperature=temperature),
    )
