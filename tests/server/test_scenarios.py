"""The questions that Citewell was made for, on the sample files: without a chat model, and with scripted models of both vendors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.contract_servers import anthropic as anthropic_contract
from tests.contract_servers import openai as openai_contract
from tests.contract_servers.anthropic import AnthropicServer
from tests.contract_servers.openai import OpenAIServer
from tests.contract_servers.serving import serving
from tests.server.in_process import InProcessServer
from tests.server.running import Server
from tests.server.scripted import anthropic_script, openai_script

pytestmark = pytest.mark.slow(15)
LOAN_SIZE = "What's the maximum loan size for first-time borrowers?"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, samples: Path) -> Path:
    """A data folder with the sample files."""
    folder = tmp_path_factory.mktemp("scenarios") / "data"
    with InProcessServer(folder) as server:
        for path in sorted(samples.iterdir()):
            assert server.add(path.name, path.read_bytes())["status"] in ("indexed", "analyzed")
    return folder


@pytest.fixture(scope="module", params=["none", "openai", "anthropic"])
def talk(request: pytest.FixtureRequest, library: Path) -> Iterator[Talk]:
    with ExitStack() as stack:
        model = None
        environment: dict[str, str] = {}
        if request.param == "openai":
            model = OpenAIServer(openai_script)
            address = stack.enter_context(serving(model.app))
            environment = {
                "CITEWELL_CHAT_PROVIDER": "openai",
                "CITEWELL_CHAT_MODEL": "gpt-test",
                "CITEWELL_CHAT_BASE_URL": f"{address}/v1",
                "CITEWELL_CHAT_PROFILE": "full",
                "CITEWELL_OPENAI_API_KEY": openai_contract.KEY,
                "CITEWELL_PRICES": '{"gpt-test": [2.0, 8.0]}',
            }
        elif request.param == "anthropic":
            model = AnthropicServer(anthropic_script)
            address = stack.enter_context(serving(model.app))
            environment = {
                "CITEWELL_CHAT_PROVIDER": "anthropic",
                "CITEWELL_CHAT_MODEL": "claude-test",
                "CITEWELL_ANTHROPIC_BASE_URL": address,
                "CITEWELL_ANTHROPIC_API_KEY": anthropic_contract.KEY,
                "CITEWELL_PRICES": '{"claude-test": [3.0, 15.0]}',
            }
        server = stack.enter_context(InProcessServer(library, **environment))
        yield Talk(server, request.param, model)


class Talk:
    def __init__(self, server: Server, provider: str, model: OpenAIServer | AnthropicServer | None) -> None:
        self.server = server
        self.provider = provider
        self.model = model

    def ask(self, message: str, **fields: Any) -> dict[str, Any]:
        response = self.server.client.post("/chat", json={"message": message, "debug": True, **fields})
        assert response.status_code == 200, response.text
        return response.json()

    def id_of(self, filename: str) -> str:
        return next(r["id"] for r in self.server.resources() if r["filename"] == filename)


def labels(answer: dict[str, Any]) -> list[str]:
    return [citation["label"] for citation in answer["citations"]]


def test_the_loan_ceiling_with_its_page(talk: Talk) -> None:
    answer = talk.ask(LOAN_SIZE)
    assert "GHS 5,000" in answer["answer"]
    assert labels(answer) == ["Loan Policy.pdf (p. 3)"]
    assert answer["citations"][0]["verdict"] == "supported"
    assert answer["citations"][0]["locator"]["boxes"]


def test_the_onboarding_steps_from_three_pages(talk: Talk) -> None:
    answer = talk.ask("List the onboarding steps for our program.")
    assert labels(answer)
    assert set(labels(answer)) == {f"Program Handbook.pdf (p. {page})" for page in (2, 5, 7)}
    if talk.provider == "none":
        found = [line for line in answer["answer"].splitlines() if line[:1].isdigit()]
        assert len(found) == 6
        for line, step in zip(
            found, ("Register", "visit", "money basics", "loan costs", "Sign", "Welcome"), strict=True
        ):
            assert step in line
        assert all(citation["verdict"] == "supported" for citation in answer["citations"])


def test_profit_of_two_quarters_exactly(talk: Talk) -> None:
    answer = talk.ask("Compare Q1 vs Q3 profit")
    assert "-18,100" in answer["answer"] or "-18100" in answer["answer"]
    assert 'Finance Sheet.xlsx (Sheet "Revenue by quarter", Row 2)' in labels(answer)
    if talk.provider == "none":
        assert "1700" in answer["answer"].replace(",", "")
        assert 'Finance Sheet.xlsx (Sheet "Revenue by quarter", Row 4)' in labels(answer)


def test_the_quarter_with_the_highest_expenses(talk: Talk) -> None:
    answer = talk.ask("Which quarter had the highest expenses?")
    assert "82,750" in answer["answer"] or "82750" in answer["answer"]
    assert labels(answer) == ['Finance Sheet.xlsx (Sheet "Revenue by quarter", Row 5)']


def test_a_follow_up_is_understood_from_the_thread(talk: Talk) -> None:
    first = talk.ask(LOAN_SIZE)
    answer = talk.ask("What about for returning borrowers?", thread_id=first["thread_id"])
    assert answer["thread_id"] == first["thread_id"]
    assert "GHS 12,000" in answer["answer"]
    assert "Loan Policy.pdf (p. 3)" in labels(answer)


def test_a_complete_question_is_answered_as_in_a_new_thread(talk: Talk) -> None:
    report = talk.ask("What does the growth plan say about expenses of new branches?")
    answer = talk.ask("Which quarter had the highest expenses?", thread_id=report["thread_id"])
    assert "82,750" in answer["answer"] or "82750" in answer["answer"]
    assert labels(answer) == ['Finance Sheet.xlsx (Sheet "Revenue by quarter", Row 5)']


def test_what_no_file_has_is_not_guessed(talk: Talk) -> None:
    answer = talk.ask("What's our CAC?")
    assert answer["answer"].startswith("I don't have enough information to answer that.")
    if talk.provider == "none":
        assert answer["no_answer"]["reason"] == "not_mentioned"
        assert answer["no_answer"]["text"] == "No passage found mentions “CAC”."
        assert 0.0 <= answer["confidence"] < 0.5
    assert answer["answered"] is False
    assert answer["citations"] == []
    assert answer["nearest"]


def test_thanks_cost_no_search_and_no_embedding(talk: Talk) -> None:
    answer = talk.ask("Thanks, that's helpful")
    assert answer["intent"] == "general_conversation"
    assert answer["usage"]["searches"] == 0
    assert answer["usage"]["embedded_texts"] == 0
    assert "search" not in answer["trace"]["timings_ms"]


def test_the_same_question_with_one_file_tagged_with_another_and_with_all(talk: Talk) -> None:
    policy, deck = talk.id_of("Loan Policy.pdf"), talk.id_of("Pitch Deck.pptx")
    first = talk.ask(LOAN_SIZE, resource_ids=[policy])
    assert labels(first) == ["Loan Policy.pdf (p. 3)"]
    thread = first["thread_id"]
    other = talk.ask(LOAN_SIZE, resource_ids=[deck], thread_id=thread)
    assert all(citation["resource_id"] == deck for citation in other["citations"])
    assert "Loan Policy" not in str(other["citations"]) + str(other["nearest"])
    everything = talk.ask(LOAN_SIZE, thread_id=thread)
    assert "Loan Policy.pdf (p. 3)" in labels(everything)


def test_a_figure_that_the_cited_source_lacks_is_not_given(talk: Talk) -> None:
    if talk.provider == "none":
        assert talk.model is None
        return
    answer = talk.ask("What may the office for first loans approve?")
    assert "7,777" not in answer["answer"]
    assert {c["verdict"] for c in answer["citations"]} == {"supported"}
    assert "support" in answer["notice"]


def test_what_it_cost_and_what_context_stuffing_would_have(talk: Talk) -> None:
    answer = talk.ask("Tell me, what is the maximum loan size for first-time borrowers?")
    used = answer["usage"]
    assert used["embedded_texts"] > 0
    assert used["stuffing_tokens"] > 8_000
    report = talk.server.client.get("/usage", params={"message_id": answer["message_id"], "by": "message"}).json()
    assert report["context_stuffing"]["input_tokens"] == used["stuffing_tokens"]
    kinds = {row["kind"]: row for row in report["usage"]}
    assert kinds["embedding"]["units"] == used["embedded_texts"]
    if talk.provider == "none":
        assert "chat" not in kinds
        assert used["cost"] == 0
    else:
        assert kinds["chat"]["input_tokens"] == used["input_tokens"] > 0
        assert kinds["chat"]["cost"] == pytest.approx(used["cost"])
        assert used["cost"] > 0
        assert used["stuffing_cost"] > used["cost"]
