"""The first search is the model's decision: real SDKs against contract servers, by models that search, do not, and overreach."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from typing import Any

import pytest

from citewell.adapters.chat import anthropic as anthropic_adapter
from citewell.adapters.chat import openai as openai_adapter
from citewell.agent.graph import Assistant
from citewell.agent.interface import Done, PastMessage, TextDelta, TextRestarted, TurnRequest
from citewell.agent.model.unsearched import RECALLED
from citewell.agent.spoken import NO_ANSWER
from citewell.ports import Capability
from citewell.types import Condition, FirstSearch, Operator, ResourceInfo, Scope, SearchOptions, Verdict
from tests.agent.fakes import WordEmbedder, WordSearcher, hit
from tests.agent.reading import MESSAGES
from tests.contract_servers import anthropic as anthropic_contract
from tests.contract_servers import openai as openai_contract
from tests.contract_servers.anthropic import AnthropicServer
from tests.contract_servers.openai import OpenAIServer
from tests.contract_servers.script import Call, Cited, Queue, Reply, Script
from tests.contract_servers.serving import serving

LIMIT = "A first-time borrower may receive at most GHS 5,000."
RETURNING = "A returning borrower may receive at most GHS 12,000."
QUESTION = "What is the maximum loan size for first-time borrowers?"
SECRET = "The salary of the director is GHS 90,000."
FILES = [
    hit(LIMIT, page=3, ordinal=1),
    hit(RETURNING, page=3, ordinal=2),
    hit(SECRET, owner="eve", resource="eve-file", filename="Salaries.pdf"),
]
HISTORY = (
    PastMessage("user", "What do borrowers get?"),
    PastMessage("assistant", f"{LIMIT} [1] {RETURNING} [2]"),
)
SEARCH = Reply(calls=(Call("search_user_files", {"query": "maximum loan first-time borrower"}),))


class Conversation:
    """An assistant whose model is asked with the vendor's SDK, and answers by a script."""

    def __init__(self, vendor: str, address: str, server: OpenAIServer | AnthropicServer) -> None:
        self.vendor = vendor
        self.server = server
        self.chat: Any = (
            openai_adapter.chat("gpt-test", openai_contract.KEY, f"{address}/v1")
            if vendor == "openai"
            else anthropic_adapter.chat("claude-test", anthropic_contract.KEY, address)
        )
        self.searcher = WordSearcher(FILES)
        self.said = ""

    async def ask(
        self, *script: Reply | Script, message: str = QUESTION, library: Any = None, first_search: FirstSearch = FirstSearch.MODEL, **request: Any
    ) -> Done:  # fmt: skip
        first = script[0]
        self.server.script = (
            Queue(*[one for one in script if isinstance(one, Reply)]) if isinstance(first, Reply) else first
        )
        assistant = Assistant(
            self.searcher,
            WordEmbedder(),
            library=library,
            chat_model=self.chat,
            first_search=first_search,
            message_model=MESSAGES,
        )
        turn = TurnRequest(owner_id="ada", message=message, **request, options=SearchOptions(debug=True))
        async with aclosing(assistant.run(turn)) as events:
            found = [event async for event in events]
        done = found[-1]
        assert isinstance(done, Done), done
        self.said = ""
        for event in found:
            self.said = "" if isinstance(event, TextRestarted) else self.said
            self.said += event.text if isinstance(event, TextDelta) else ""
        assert self.said.strip() == done.answer.text
        return done

    def cites(self, text: str, n: int = 1) -> Reply:
        """An answer that cites passage `n`, as the vendor's models do."""
        if self.vendor == "openai":
            return Reply(text=f"{text} [{n}]")
        return Reply(cited=(Cited(text, (n - 1,)),))

    @property
    def requests(self) -> list[str]:
        """What was sent, as text."""
        return [json.dumps(body["messages"], ensure_ascii=False) for body in self.server.requests]


@pytest.fixture(params=["openai", "anthropic"])
async def conversation(request: pytest.FixtureRequest) -> AsyncIterator[Conversation]:
    server = OpenAIServer() if request.param == "openai" else AnthropicServer()
    with serving(server.app) as address:
        made = Conversation(request.param, address, server)
        yield made
        await made.chat.close()


class Shelf:
    """A `Library` of one file."""

    async def list_resources(self, owner_id: str, scope: Scope) -> Sequence[ResourceInfo]:
        return [ResourceInfo(id="r1", filename="Loan Policy.pdf", version=1, status="indexed", category="rag")]  # type: ignore[arg-type]

    async def count_characters(self, owner_id: str, scope: Scope) -> int:
        return 100

    async def read_resource(self, owner_id: str, resource_id: str, first: int, last: int) -> Sequence[Any]:
        return []


async def test_a_model_that_searches_at_once_is_asked_twice_and_its_citation_is_checked(
    conversation: Conversation,
) -> None:
    done = await conversation.ask(SEARCH, conversation.cites(LIMIT))
    assert len(conversation.requests) == 2
    assert LIMIT not in conversation.requests[0]
    assert done.answer.trace["first_search"] == "model"
    assert done.usage.searches == 1
    assert [(c.label, c.verdict) for c in done.answer.citations] == [("Loan Policy.pdf (p. 3)", Verdict.SUPPORTED)]
    assert done.notice is None


async def test_what_a_model_claims_without_a_search_is_not_shown_and_it_is_asked_again_with_passages(
    conversation: Conversation,
) -> None:
    done = await conversation.ask(Reply(text="It is GHS 9,999."), conversation.cites(LIMIT))
    assert "9,999" not in conversation.said
    assert LIMIT in conversation.requests[1]
    assert "9,999" not in conversation.requests[1]
    assert done.answer.trace["first_search"] == "required"
    assert done.usage.searches == 1
    assert done.answer.citations[0].verdict is Verdict.SUPPORTED


async def test_a_model_that_never_searches_is_searched_for_once_and_what_no_passage_supports_is_not_given(
    conversation: Conversation,
) -> None:
    done = await conversation.ask(Reply(text="It is GHS 9,999."))
    assert len(conversation.requests) == 2
    assert "9,999" not in done.answer.text
    assert done.notice is not None
    assert done.notice.startswith("No passage supports what")


async def test_what_it_claims_beside_its_first_call_is_not_shown(conversation: Conversation) -> None:
    call = Reply(text="It is GHS 9,999, let me see.", calls=SEARCH.calls)
    await conversation.ask(call, conversation.cites(LIMIT))
    assert "9,999" not in conversation.said


async def test_a_question_about_the_conversation_is_answered_from_it_without_a_search(
    conversation: Conversation,
) -> None:
    told = "Second, I said that a returning borrower may receive at most GHS 12,000."
    done = await conversation.ask(Reply(text=told), message="What did you say second?", history=HISTORY)
    assert done.answer.text == told
    assert (len(conversation.requests), conversation.searcher.requests) == (1, [])
    assert done.answer.intent == done.answer.trace["intent"] == "general_conversation"
    assert done.answer.trace["first_search"] == "none"
    assert done.answer.confidence is None
    assert done.notice == RECALLED


async def test_the_conversation_of_another_scope_holds_nothing(conversation: Conversation) -> None:
    elsewhere = tuple(PastMessage(past.role, past.content, Scope(resource_ids=("r9",))) for past in HISTORY)
    told = Reply(text=f"I said: {RETURNING}")
    done = await conversation.ask(told, message="What did you say second?", history=elsewhere)
    assert done.answer.trace["first_search"] == "required"


@pytest.mark.full
@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("Second, I said that a returning borrower may receive at most GHS 15,000.", "What did you say second?"),
        (f"{RETURNING} Directors are paid monthly.", "What did you say second?"),
        ("Yes.", "Is it at most GHS 7,000?"),
        ("Yes, directors receive at most GHS 7,000.", "Do directors receive at most GHS 7,000?"),
        (NO_ANSWER, "What did you say second?"),
        ("Did you know that it is GHS 15,000?", "What did you say second?"),
    ],
    ids=["another figure", "more than was said", "a nod", "what the question supposes", "a refusal", "a claim as a question"],
)  # fmt: skip
async def test_what_the_conversation_did_not_say_needs_a_search(
    conversation: Conversation, said: str, message: str
) -> None:
    history = (*HISTORY, PastMessage("user", "And directors?"), PastMessage("assistant", NO_ANSWER))
    done = await conversation.ask(Reply(text=said), message=message, history=history)
    assert done.answer.trace["first_search"] == "required"
    assert done.usage.searches >= 1


async def test_a_model_may_ask_back_without_a_search(conversation: Conversation) -> None:
    back = "Do you mean the first loan, or the one of 2025?"
    done = await conversation.ask(Reply(text=back), message="How much was the one of 2025?")
    assert done.answer.text == back
    assert (len(conversation.requests), conversation.searcher.requests) == (1, [])
    assert done.notice is None


async def test_a_greeting_costs_one_call_and_no_search(conversation: Conversation) -> None:
    done = await conversation.ask(Reply(text="Hello! What would you like to know?"), message="Hello!")
    assert len(conversation.requests) == 1
    assert "tools" not in conversation.server.requests[0]
    assert done.usage.searches == 0
    assert "first_search" not in done.answer.trace


async def test_a_search_within_anothers_file_finds_nothing_and_what_is_claimed_of_it_is_not_shown(
    conversation: Conversation,
) -> None:
    foreign = Call("search_user_files", {"query": "salary of the director", "resource_ids": ["eve-file"]})
    done = await conversation.ask(
        Reply(calls=(foreign,)), Reply(text="The director is paid GHS 90,000."), Reply(text=NO_ANSWER),
        message="What is the director paid?",
    )  # fmt: skip
    assert {request.owner_id for request in conversation.searcher.requests} == {"ada"}
    assert not any(SECRET in sent for sent in conversation.requests)
    assert "90,000" not in conversation.said
    assert done.answer.trace["first_search"] == "required"
    assert not done.answer.answered


async def test_a_list_of_files_is_nothing_to_cite_so_a_claim_after_it_needs_a_search(
    conversation: Conversation,
) -> None:
    listed = Reply(calls=(Call("list_resources"),))
    done = await conversation.ask(
        listed, Reply(text="It is GHS 9,999."), conversation.cites(LIMIT), library=Shelf()
    )  # fmt: skip
    assert done.answer.trace["first_search"] == "required"
    assert "9,999" not in conversation.said
    assert "Loan Policy.pdf (id r1" in conversation.requests[2]
    assert done.answer.citations[0].verdict is Verdict.SUPPORTED


@pytest.mark.parametrize(("wanted", "found"), [(1_000, 20), (None, 5), (0, 1)])
async def test_top_k_is_5_and_at_most_20(conversation: Conversation, wanted: int | None, found: int) -> None:
    call = Call("search_user_files", {"query": "first-time borrower", "top_k": wanted})
    await conversation.ask(Reply(calls=(call,)), conversation.cites(LIMIT))
    assert conversation.searcher.requests[0].top_k == found


async def test_the_arguments_of_the_search_narrow_it(conversation: Conversation) -> None:
    call = Call(
        "search_user_files", {"query": "first-time borrower", "file_types": ["pdf"], "thread_id": 42, "threshold": 0.3}
    )
    await conversation.ask(Reply(calls=(call,)), conversation.cites(LIMIT))
    (request,) = conversation.searcher.requests
    assert request.options.vector_threshold == 0.3
    assert request.conditions == (
        Condition("thread", Operator.EQ, "42"),
        Condition("category", Operator.IN, ("pdf",)),
    )


async def test_a_wrong_argument_is_told_to_the_model(conversation: Conversation) -> None:
    wrong = Reply(calls=(Call("search_user_files", {"query": "first-time borrower", "resource_ids": 7}),))
    await conversation.ask(wrong, SEARCH, conversation.cites(LIMIT))
    assert "`resource_ids` must be a list of texts" in conversation.requests[1]


@pytest.mark.parametrize(
    "arguments",
    [
        {"query": "first-time borrower", "file_types": ["movie"]},
        {"query": "first-time borrower", "thread_id": "", "projects": [""], "limit": 5, "top_k": "5"},
        {"q": "first-time borrower"},
        {"query": "first-time borrower", "resource_ids": None, "filters": None, "threshold": "0.2"},
    ],
    ids=["an impossible narrowing", "empty and unknown ones", "another name", "null and text"],
)
async def test_arguments_that_can_be_understood_cost_no_further_call(
    conversation: Conversation, arguments: dict[str, Any]
) -> None:
    await conversation.ask(Reply(calls=(Call("search_user_files", arguments),)), conversation.cites(LIMIT))
    assert LIMIT in conversation.requests[1]


async def test_where_it_is_always_made_the_first_search_comes_before_the_model(conversation: Conversation) -> None:
    done = await conversation.ask(conversation.cites(LIMIT), first_search=FirstSearch.ALWAYS)
    assert len(conversation.requests) == 1
    assert LIMIT in conversation.requests[0]
    assert done.answer.trace["first_search"] == "always"


async def test_a_model_without_tools_is_given_what_a_first_search_found(conversation: Conversation) -> None:
    conversation.chat._capabilities = conversation.chat.capabilities - {Capability.TOOLS}
    done = await conversation.ask(conversation.cites(LIMIT))
    assert len(conversation.requests) == 1
    assert LIMIT in conversation.requests[0]
    assert "tools" not in conversation.server.requests[0]
    assert done.answer.trace["first_search"] == "always"


async def test_what_leans_on_the_thread_costs_no_call_of_its_own(conversation: Conversation) -> None:
    """The model reads the thread when it writes its query; before, it was asked for a question that stands alone."""
    search = Reply(calls=(Call("search_user_files", {"query": "maximum loan of returning borrowers"}),))
    asked: dict[str, Any] = {"message": "What about for returning borrowers?", "history": HISTORY}
    await conversation.ask(search, conversation.cites(RETURNING), **asked)
    assert len(conversation.requests) == 2
    before = len(conversation.requests)
    understood = {"intent": "document_query", "confidence": 1, "question": QUESTION, "search_terms": []}
    await conversation.ask(
        Reply(text=json.dumps(understood)), conversation.cites(LIMIT), first_search=FirstSearch.ALWAYS, **asked
    )
    assert len(conversation.requests) - before == 2
