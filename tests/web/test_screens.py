"""What screens ask of the API: rows of tables, spreads of columns, a passage, a turn taken back, feedback."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from tests.server.running import Server

CSV = "city,shops,opened\nTema,12,2019-01-05\nAccra,40,2020-02-01\nAccra,,2021-03-01\nKumasi,30,2022-04-01\n"


@pytest.fixture(scope="module")
def table(server: Server) -> dict[str, Any]:
    return server.add(f"shops {uuid.uuid4().hex[:6]}.csv", CSV.encode())


def _rows(server: Server, table: dict[str, Any], **query: int) -> dict[str, Any]:
    return server.client.get(f"/resources/{table['id']}/tables/t0/rows", params=query).json()


def test_rows_come_in_the_files_order_with_the_numbers_people_see(server: Server, table: dict[str, Any]) -> None:
    page = _rows(server, table)
    assert page["columns"] == ["city", "shops", "opened"]
    assert [row["row"] for row in page["rows"]] == [2, 3, 4, 5]
    assert page["rows"][0]["cells"] == ["Tema", 12, "2019-01-05"]
    assert page["rows"][2]["cells"][1] is None
    assert (page["offset"], page["total"]) == (0, 4)


def test_rows_begin_where_asked(server: Server, table: dict[str, Any]) -> None:
    assert [row["row"] for row in _rows(server, table, offset=1, limit=2)["rows"]] == [3, 4]
    at_row = _rows(server, table, row=4, limit=1)
    assert at_row["offset"] == 2
    assert at_row["rows"][0]["row"] == 4
    assert _rows(server, table, offset=99)["rows"] == []


def test_a_column_is_spread_over_its_values_or_over_ranges(server: Server, table: dict[str, Any]) -> None:
    address = f"/resources/{table['id']}/tables/t0/spread"
    texts = server.client.get(address, params={"column": "city"}).json()
    assert texts["numeric"] is False
    assert texts["bars"][0] == {"label": "Accra", "count": 2}
    numbers = server.client.get(address, params={"column": "shops"}).json()
    assert numbers["numeric"] is True
    assert sum(bar["count"] for bar in numbers["bars"]) == 3
    assert (numbers["bars"][0]["count"], numbers["bars"][-1]["count"]) == (1, 1)


@pytest.mark.parametrize("column", ["none", "city\" FROM read_text('/etc/passwd') --"])
def test_a_column_that_is_not_there_is_not_found(server: Server, table: dict[str, Any], column: str) -> None:
    answer = server.client.get(f"/resources/{table['id']}/tables/t0/spread", params={"column": column})
    assert answer.status_code == 404


def test_tables_of_nobody_are_not_found(server: Server, table: dict[str, Any]) -> None:
    assert server.client.get(f"/resources/{uuid.uuid4()}/tables/t0/rows").status_code == 404
    assert server.client.get(f"/resources/{table['id']}/tables/t9/rows").status_code == 404


def test_the_passage_behind_a_citation_is_found_in_its_file_only(server: Server, table: dict[str, Any]) -> None:
    chunk = server.client.get(f"/resources/{table['id']}/chunks", params={"limit": 1}).json()["chunks"][0]
    assert server.client.get(f"/resources/{table['id']}/chunks/{chunk['id']}").json() == chunk
    assert server.client.get(f"/resources/{uuid.uuid4()}/chunks/{chunk['id']}").status_code == 404


def _asked_twice(server: Server) -> tuple[str, list[dict[str, Any]]]:
    first = server.client.post("/chat", json={"message": "Hello!"}).json()
    server.client.post("/chat", json={"message": "Thanks!", "thread_id": first["thread_id"]})
    return first["thread_id"], _messages(server, first["thread_id"])


def _messages(server: Server, thread_id: str) -> list[dict[str, Any]]:
    return server.client.get(f"/threads/{thread_id}").json()["messages"]


def test_a_turn_can_be_taken_back_and_asked_again(server: Server) -> None:
    thread_id, messages = _asked_twice(server)
    assert server.client.delete(f"/threads/{thread_id}/messages/{messages[2]['id']}").status_code == 204
    assert [m["content"] for m in _messages(server, thread_id)] == [m["content"] for m in messages[:2]]
    server.client.post("/chat", json={"message": "Thanks again!", "thread_id": thread_id})
    assert len(_messages(server, thread_id)) == 4
    assert server.client.delete(f"/threads/{thread_id}/messages/{messages[2]['id']}").status_code == 404


def test_feedback_stands_on_the_answer_until_it_is_taken_back(server: Server) -> None:
    thread_id, messages = _asked_twice(server)
    answer, question = messages[1], messages[0]
    address = f"/threads/{thread_id}/messages/{answer['id']}/feedback"
    assert server.client.put(address, json={"rating": "down", "comment": "too short"}).status_code == 204
    rated = _messages(server, thread_id)[1]
    assert rated["details"]["feedback"] == {"rating": "down", "comment": "too short"}
    assert rated["details"] | answer["details"] == rated["details"]
    server.client.put(address, json={"rating": None})
    assert "feedback" not in _messages(server, thread_id)[1]["details"]
    missing = server.client.put(f"/threads/{thread_id}/messages/{question['id']}/feedback", json={"rating": "up"})
    assert missing.status_code == 404
