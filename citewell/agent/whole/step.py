"""The assistant's step for questions about whole documents; every other question goes on to the assistant it wraps."""

from __future__ import annotations

import re
from collections.abc import Sequence

from citewell.agent.extractive.interaction import similarities
from citewell.agent.interface import Library, TextDelta, WholeFiles
from citewell.agent.turn.state import Draft, NextStep, TurnState
from citewell.agent.turn.steps import AssistantStep, Step
from citewell.agent.turn.tools import MAX_TOP_K, Toolbox, search_call
from citewell.agent.understand.thresholds import THRESHOLDS
from citewell.agent.whole.files import files_in_words
from citewell.agent.whole.quoted import quote, quote_found
from citewell.agent.whole.reading import WholeReader
from citewell.agent.whole.request import WholeKind, WholeRequest, asks_for_whole, read_request, words_of_name
from citewell.agent.whole.written import WholeBudget, write
from citewell.ports import ChatModel, Embedder
from citewell.types import Hit, NoAnswer, NoAnswerReason, ResourceInfo
from citewell.types.message_reading import Act, MessageRead

MAX_COMPARED = 500
"""Files in scope up to which their names are compared with a message."""
NOTHING_IN_SCOPE = "There is no file here to answer from. Upload the document, spreadsheet or picture that your question is about, and ask again."
"""The answer to a question about documents where there are none."""


class WholeDocuments:
    """Answers questions about whole documents with a chat model or, without one, by quoting; asks `inner` all others."""

    def __init__(
        self,
        inner: AssistantStep,
        toolbox: Toolbox,
        library: Library,
        files: WholeFiles,
        model: ChatModel | None = None,
        budget: WholeBudget | None = None,
        across: Embedder | None = None,
    ) -> None:
        """across: a model of many languages, which tells the file that is meant by its name in other words."""
        self._across = across
        self._inner = inner
        self._toolbox = toolbox
        self._library = library
        self._reader = WholeReader(files)
        self._model = model
        self._budget = budget or WholeBudget()

    async def step(self, turn: TurnState) -> Step:
        """The draft of such an answer, before anything else is looked up; else the step of `inner`."""
        if turn.intent.kind == "document_query" and turn.stage is NextStep.DECIDE and await self._has_nothing(turn):
            return self._nothing(turn)
        if turn.intent.kind == "document_query" and turn.stage is NextStep.LOOK_UP:
            draft = await self._consider(turn)
            if draft is not None:
                return draft
        return await self._inner.step(turn)

    async def _has_nothing(self, turn: TurnState) -> bool:
        """Whether a question is the first of a thread in which no file is in scope: a later one may be about what was said."""
        request = turn.request
        return not request.history and not await self._library.list_resources(request.owner_id, request.scope)

    async def _consider(self, turn: TurnState) -> Draft | None:
        request = turn.request
        resources = await self._library.list_resources(request.owner_id, request.scope)
        if not resources:
            # A chat model would look several times for what cannot be there.
            is_answered = self._model is not None or asks_for_whole(turn.read) or _asks_for_files(turn.read)
            return self._nothing(turn) if is_answered else None
        if self._model is None and await self._asks_for_list(turn):  # a model lists them with a tool
            listed = files_in_words(resources)
            turn.emit(TextDelta(listed))
            return Draft(listed, answered=True)
        whole = read_request(turn.request.message, turn.read, resources) or await self._found(turn, resources)
        if whole is None or not whole.files:
            return None
        turn.note("whole_documents", {"kind": whole.kind.name.lower(), "files": [file.id for file in whole.files]})
        with turn.timed("whole_documents"):
            if self._model is not None:
                return await write(turn, whole, self._reader, self._model, self._budget)
            quoted = await quote(whole, request.owner_id, self._reader)
            if quoted is None and whole.kind is WholeKind.FIND:
                quoted = quote_found(await self._search(turn))
        if quoted is None:
            return None
        turn.emit(TextDelta(quoted.text))
        if quoted.sources:
            return Draft(quoted.text, True, quoted.sources)
        hint = "Ask in other words, or connect a chat model, which reads for meaning."
        return Draft(quoted.text, False, no_answer=NoAnswer(NoAnswerReason.NOT_MENTIONED, quoted.text, hint))

    async def _found(self, turn: TurnState, resources: Sequence[ResourceInfo]) -> WholeRequest | None:
        """A summary of the file whose name says the same in other words, else of the one that a search for it finds first.

        "Rahel's report" names no file. What a message about a subject names is only taken for a file by its name.
        """
        if turn.read.act not in (Act.SUMMARY, Act.ABOUT) or not asks_for_whole(turn.read):
            return None
        if file := await self._named_otherwise(turn.read.content_of(turn.request.message), resources):
            return WholeRequest(WholeKind.SUMMARISE, (file,))
        if turn.read.act is not Act.SUMMARY:
            return None
        found = await self._search(turn)
        nearest = found[0].chunk.resource_id if found else ""
        files = tuple(resource for resource in resources if resource.id == nearest)
        return WholeRequest(WholeKind.SUMMARISE, files) if files else None

    async def _named_otherwise(self, about: str, resources: Sequence[ResourceInfo]) -> ResourceInfo | None:
        """The file whose name is nearest to these words, if it is near, and clearly nearer than the next."""
        if self._across is None or not about or len(resources) > MAX_COMPARED:
            return None
        near = await similarities(self._across, about, [words_of_name(one.filename) for one in resources])
        if near is None:
            return None
        best, *others = sorted(zip(near, resources, strict=True), key=lambda pair: -pair[0])
        clear = not others or best[0] - others[0][0] >= THRESHOLDS.file_margin
        return best[1] if clear and best[0] >= THRESHOLDS.file_named else None

    async def _asks_for_list(self, turn: TurnState) -> bool:
        """Whether the message asks which files there are, and not for something that a passage names in the same words."""
        if not _asks_for_files(turn.read):
            return False
        spans, message = turn.read.content, turn.request.message
        about = _folded(message[spans[0][0] : spans[-1][1]]) if spans else ""
        if " " not in about:
            return True
        return not any(f" {about} " in f" {_folded(hit.chunk.text)} " for hit in await self._search(turn))

    async def _search(self, turn: TurnState) -> list[Hit]:
        """What a search for the words that say what the message is about finds."""
        about = turn.read.content_of(turn.request.message)
        result = await self._toolbox.run(turn, search_call(about, top_k=MAX_TOP_K)) if about else None
        return [source.hit for source in result.sources] if result is not None else []

    def _nothing(self, turn: TurnState) -> Draft:
        turn.emit(TextDelta(NOTHING_IN_SCOPE))
        return Draft(NOTHING_IN_SCOPE, answered=False)


def _folded(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def _asks_for_files(read: MessageRead) -> bool:
    return read.acts.get(Act.FILES, 0.0) >= THRESHOLDS.whole
