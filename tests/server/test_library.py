"""The Python facade, as README shows it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from citewell import Citewell, RerankLimits
from citewell.errors import (
    DataFolderBusy,
    InvalidInput,
    NotFound,
    ProviderAuthError,
    ProviderError,
    ProviderRateLimited,
    ProviderRejected,
    ProviderUnavailable,
)
from citewell.types import Status
from tests.contract_servers.openai import KEY, OpenAIServer
from tests.contract_servers.script import Queue, Reply
from tests.contract_servers.serving import serving


@pytest.mark.full
def test_add_search_ask_delete(tmp_path: Path) -> None:
    note = tmp_path / "note.md"
    note.write_text("# Keys\n\nThe spare key hangs behind the blue door.\n")
    with Citewell(tmp_path / "data") as cw:
        resource = cw.add(note)
        assert resource.status is Status.INDEXED
        assert cw.search("spare key")[0].chunk.resource_id == resource.id
        answer = cw.ask("Where does the spare key hang?")
        assert "blue door" in answer.text
        assert answer.citations[0].label.startswith("note.md")
        assert [r.id for r in cw.resources()] == [resource.id]
        cw.delete(resource.id)
        assert cw.search("spare key") == []


@pytest.mark.full
def test_what_makes_a_row_so_is_answered_from_the_text_that_says_it(tmp_path: Path) -> None:
    note, loans = tmp_path / "policy.md", tmp_path / "loans.csv"
    note.write_text(
        "# Repayment\n\nA loan is overdue when an instalment has not arrived three days after it was due.\n"
    )
    rows = [f"AC-{n},Trader {n},{'overdue' if n % 2 else 'active'},{n * 100}" for n in range(40)]
    loans.write_text("\n".join(["Loan ID,Borrower,Status,Amount", *rows]))
    with Citewell(tmp_path / "data") as cw:
        cw.add(note)
        cw.add(loans)
        for question in ("When is a loan overdue?", "What is an overdue loan?"):
            answer = cw.ask(question)
            assert (
                answer.text == "A loan is overdue when an instalment has not arrived three days after it was due. [1]"
            )
            assert answer.citations[0].label.startswith("policy.md")
        assert cw.ask("How many loans are overdue?").text.startswith("There are 20 ")
        assert "AC-1" in cw.ask("Which loans are overdue?").text


@pytest.mark.full
def test_how_many_and_whether_to_rerank_are_as_configured_unless_told(tmp_path: Path) -> None:
    note = tmp_path / "note.md"
    note.write_text("\n\n".join(f"# Key {n}\n\n" + f"The spare key {n} hangs behind door {n}. " * 12 for n in range(6)))
    with Citewell(tmp_path / "data", top_k=2, rerank_provider="none") as cw:
        cw.add(note)
        assert len(cw.search("spare key")) == 2
        assert len(cw.search("spare key", 4)) == 4
        assert cw.ask("Where does the spare key 3 hang?", rerank=False).text
        with pytest.raises(InvalidInput, match="RERANK_PROVIDER"):
            cw.ask("Where does the spare key 3 hang?", rerank=True)


@pytest.mark.full
def test_how_many_a_reranker_keeps_is_said_per_request(tmp_path: Path) -> None:
    note = tmp_path / "note.md"
    note.write_text("\n\n".join(f"# Key {n}\n\n" + f"The spare key {n} hangs behind door {n}. " * 12 for n in range(6)))
    with Citewell(tmp_path / "data") as cw:
        cw.add(note)
        kept = RerankLimits(candidates=4, top_n=2)
        assert len(cw.search("spare key", 5, rerank=True, rerank_limits=kept)) == 2
        assert cw.search("spare key", 5, rerank=True, rerank_limits=RerankLimits(threshold=1e9)) == []
        assert cw.ask("Where does the spare key 3 hang?", rerank=True, rerank_limits=kept).text
        with pytest.raises(InvalidInput, match="rerank_top_n"):
            cw.ask("Where?", rerank=True, rerank_limits=RerankLimits(top_n=0))
        with pytest.raises(InvalidInput, match="Set `rerank`"):
            cw.search("spare key", rerank=False, rerank_limits=kept)


def test_texts_are_found_by_their_record_id_and_replaced_by_it(tmp_path: Path) -> None:
    with Citewell(tmp_path / "data") as cw:
        records = [
            {"id": "a", "text": "Herons wade in shallow water.", "title": "Birds"},
            {"id": "b", "text": "Locksmiths cut keys.", "metadata": {"trade": True}},
            {"id": "long", "text": "Rivers carry silt. " * 400},
        ]
        assert cw.add_texts(records).added == 3
        assert cw.search("heron")[0].record_id == "a"
        assert sum(hit.record_id == "long" for hit in cw.search("silt in rivers", top_k=20)) > 1
        assert cw.add_texts(records).unchanged == 3
        assert cw.add_texts([{"id": "a", "text": "Owls hunt at night."}]).replaced == 1
        assert cw.search("owls")[0].record_id == "a"
        assert all("Herons" not in hit.chunk.text for hit in cw.search("heron"))


def test_records_without_id_or_text_are_refused(tmp_path: Path) -> None:
    with Citewell(tmp_path / "data") as cw:
        with pytest.raises(InvalidInput, match="`id`"):
            cw.add_texts([{"text": "x"}])
        with pytest.raises(InvalidInput, match="`text`"):
            cw.add_texts([{"id": "x"}])
        for empty in ("", " \n\t", "\x00"):
            with pytest.raises(InvalidInput, match="`text` of record 'x' is empty"):
                cw.add_texts([{"id": "x", "text": empty, "title": "A title"}])
        assert list(cw.resources()) == []


@pytest.mark.full
def test_each_record_has_its_place_in_the_answer_and_of_the_same_id_the_last_counts(tmp_path: Path) -> None:
    with Citewell(tmp_path / "data") as cw:
        records = [{"id": one, "text": f"Herons number {n}."} for n, one in enumerate(["a", "b", "a"])]
        done = cw.add_texts(records)
        first, second, third = done.resource_ids
        assert (first == third, first == second, done.added) == (True, False, 2)
        assert "number 2" in cw.search("herons number 2", resource_ids=[first])[0].chunk.text
        assert len(cw.search("herons", resource_ids=[first])) == 1
        many = cw.add_texts([{"id": f"{n % 300}", "text": f"Owl {n}."} for n in range(600)])
        assert len(many.resource_ids) == 600
        assert many.resource_ids[:300] == many.resource_ids[300:]


def test_a_known_record_is_replaced_and_in_the_project_that_is_named_too(tmp_path: Path) -> None:
    with Citewell(tmp_path / "data") as cw:
        cw.add_texts([{"id": "mv", "text": "Herons wade."}], project="One")
        again = cw.add_texts([{"id": "mv", "text": "Owls hunt."}], project="Two")
        assert again.replaced == 1
        for project in ("One", "Two"):
            (hit,) = cw.search("owls", project=project)
            assert (hit.record_id, hit.chunk.text) == ("mv", "Owls hunt.")
        assert cw.add_texts([{"id": "mv", "text": "Owls hunt."}], project="Three").unchanged == 1
        assert [hit.record_id for hit in cw.search("owls", project="Three")] == ["mv"]
        cw.add_texts([{"id": "mv", "text": "Owls sleep."}])  # no project is named: it stays where it is
        assert cw.search("owls", project="My files") == []
        assert len(list(cw.resources())) == 1


def test_what_was_added_is_there_when_opened_again_and_one_process_holds_the_folder(tmp_path: Path) -> None:
    with Citewell(tmp_path / "data") as cw:
        cw.add_texts([{"id": "a", "text": "Herons wade in shallow water."}])
        with pytest.raises(DataFolderBusy):
            Citewell(tmp_path / "data").__enter__()
    with Citewell(tmp_path / "data") as cw:
        assert cw.search("heron")[0].record_id == "a"


@pytest.mark.full
def test_two_folders_are_open_at_once_and_keep_apart(tmp_path: Path) -> None:
    with Citewell(tmp_path / "one") as one, Citewell(tmp_path / "two") as two:
        one.add_texts([{"id": "a", "text": "Herons wade in shallow water."}])
        assert two.search("heron") == []


@pytest.fixture
def model() -> Iterator[tuple[OpenAIServer, dict[str, str]]]:
    """A chat model, and the settings to use it."""
    server = OpenAIServer()
    with serving(server.app) as address:
        yield (
            server,
            {
                "chat_provider": "openai",
                "chat_model": "gpt-test",
                "chat_base_url": f"{address}/v1",
                "chat_profile": "full",
                "openai_api_key": KEY,
            },
        )


@pytest.mark.full
def test_a_follow_up_about_a_sheet_names_another_value_or_month(tmp_path: Path) -> None:
    sheet = tmp_path / "spending.csv"
    rows = ["Date,Category,Amount (EUR)", "2025-01-03,Rent,1850", "2025-01-14,Travel,212", "2025-02-03,Rent,1900"]
    sheet.write_text("\n".join([*rows, "2025-02-19,Travel,388", "2025-02-20,Travel,12", ""]), encoding="utf-8")
    with Citewell(tmp_path / "data") as cw:
        cw.add(sheet)
        answer = cw.ask("How much did we spend on travel?")
        assert "EUR 612, over 3 rows" in answer.text
        for follow_up, told in (
            ("and on rent?", "EUR 3750"),
            ("How much did we spend on rent in January?", "EUR 1850"),
        ):
            answer = cw.ask(follow_up, thread_id=answer.thread_id)
            assert told in answer.text, follow_up
        answer = cw.ask("and in February?", thread_id=answer.thread_id)
        assert "EUR 1900" in answer.text
        assert all(citation.verdict == "supported" for citation in answer.citations)


def test_a_follow_up_is_asked_in_the_thread_of_the_answer(tmp_path: Path) -> None:
    with Citewell(tmp_path / "data") as cw:
        cw.add_texts(
            [
                {"id": "a", "text": "A first-time borrower may receive at most GHS 5,000.", "title": "Limits"},
                {"id": "b", "text": "A returning borrower may receive at most GHS 12,000.", "title": "Limits"},
            ]
        )
        first = cw.ask("What is the maximum loan size for first-time borrowers?")
        assert "5,000" in first.text
        assert first.thread_id
        second = cw.ask("What about for returning borrowers?", thread_id=first.thread_id)
        assert "12,000" in second.text
        assert second.thread_id == first.thread_id
        assert cw.ask("What is the maximum loan size?").thread_id != first.thread_id
        with pytest.raises(NotFound):
            cw.ask("And then?", thread_id="nowhere")
    with Citewell(tmp_path / "data") as cw:
        later = cw.ask("And for first-time borrowers?", thread_id=first.thread_id)
        assert "5,000" in later.text


def test_an_answer_can_be_read_as_it_comes(tmp_path: Path, model: tuple[OpenAIServer, dict[str, str]]) -> None:
    provider, settings = model
    with Citewell(tmp_path / "data", **settings) as cw:
        cw.add_texts([{"id": "a", "text": "The spare key hangs behind the blue door."}])
        provider.script = Queue(Reply(text="It hangs behind the blue door [1].", pieces=12))
        with cw.stream("Where does the spare key hang?") as answer:
            pieces = list(answer)
            assert len(pieces) > 3
            assert "".join(pieces) == answer.answer.text == "It hangs behind the blue door [1]."
        assert answer.answer.thread_id == answer.thread_id
        assert [citation.n for citation in answer.answer.citations] == [1]
        assert list(answer) == []
        provider.script = Queue(Reply(text="It still hangs behind the blue door."))
        follow_up = cw.stream("And now?", thread_id=answer.thread_id)
        assert "".join(follow_up) == "It still hangs behind the blue door."
        asked = json.dumps(provider.requests[-1]["messages"])
        assert "It hangs behind the blue door" in asked


def test_a_stream_that_is_left_stops_the_model(tmp_path: Path, model: tuple[OpenAIServer, dict[str, str]]) -> None:
    provider, settings = model
    provider.script = Queue(Reply(text="It hangs behind the blue door. " * 40, pieces=200, delay=0.05))
    with Citewell(tmp_path / "data", **settings) as cw:
        cw.add_texts([{"id": "a", "text": "The spare key hangs behind the blue door."}])
        with cw.stream("Where does the spare key hang?") as answer:
            assert next(answer)
        assert provider.client_left.wait(60)
        assert list(answer) == []
        with pytest.raises(InvalidInput, match="end"):
            _ = answer.answer


@pytest.mark.full
@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Reply(status=401, message="bad key"), ProviderAuthError),
        (Reply(status=429, retry_after="3600"), ProviderRateLimited),
        (Reply(text="It is", refuse=True), ProviderRejected),
        (Reply(text="It hangs", drop_after=2), ProviderUnavailable),
    ],
)
def test_errors_can_be_caught_by_their_class(
    tmp_path: Path, model: tuple[OpenAIServer, dict[str, str]], reply: Reply, kind: type[ProviderError]
) -> None:
    provider, settings = model
    with Citewell(tmp_path / "data", **settings) as cw:
        cw.add_texts([{"id": "a", "text": "The spare key hangs behind the blue door."}])
        provider.script = Queue(reply)
        with pytest.raises(kind) as caught:
            cw.ask("Where does the spare key hang?")
        assert caught.value.code == kind.code
        assert "code" not in caught.value.details
        if isinstance(caught.value, ProviderRateLimited):
            assert caught.value.retry_after == 3600
        with pytest.raises(kind):
            list(cw.stream("Where does the spare key hang?"))


def test_an_answer_says_what_was_done_without(tmp_path: Path) -> None:
    with Citewell(tmp_path / "data", chat_provider="openai") as cw:
        cw.add_texts([{"id": "a", "text": "The spare key hangs behind the blue door."}])
        answer = cw.ask("Where does the spare key hang?")
        assert "blue door" in answer.text
        assert "without the chat model" in (answer.notice or "")
        assert "OPENAI_API_KEY" in (answer.notice or "")
    with Citewell(tmp_path / "data") as cw:
        assert cw.ask("Where does the spare key hang?").notice is None


@pytest.mark.full
@pytest.mark.parametrize("is_logged", [True, False], ids=["wanted", "not wanted"])
def test_searches_are_lines_of_the_log_where_that_is_wanted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, is_logged: bool
) -> None:
    caplog.set_level("INFO")
    with Citewell(tmp_path / "data", log_searches=is_logged) as cw:
        cw.add_texts([{"id": "a", "title": "Keys", "text": "The spare key hangs behind the blue door."}])
        chunk = cw.search("spare key\nERROR \x9b2J")[0].chunk
        cw.ask("Where does the spare key hang?")
    lines = [record.getMessage() for record in caplog.records if record.name == "citewell.features.search.service"]
    assert len(lines) == (2 if is_logged else 0)
    for line in lines:
        assert line.isascii()
        assert line.isprintable()
        said = json.loads(line.removeprefix("searched "))
        assert said["best"]["chunk_id"] == chunk.id
        assert said["hits"] == 1
    queries = [json.loads(line.removeprefix("searched "))["query"] for line in lines]
    assert queries == (["spare key\nERROR \x9b2J", "Where does the spare key hang?"] if is_logged else [])
