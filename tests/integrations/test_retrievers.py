"""Other frameworks' own calls, sync and async, over a real data folder."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine

from citewell import Citewell
from citewell.integrations import langchain, llamaindex

RECORDS = [
    {"id": "hours", "title": "Hours", "text": "The harbour office opens at eight.", "metadata": {"tags": ["office"]}},
    {"id": "birds", "title": "Birds", "text": "Forty-two seagulls nest on the pier."},
    {"id": "crane", "title": "Crane", "text": "The crane was painted blue."},
]


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Citewell]:
    with Citewell(tmp_path_factory.mktemp("integrations")) as cw:
        cw.add_texts(RECORDS)
        yield cw


async def test_a_langchain_retriever_returns_documents_with_their_source(opened: Citewell) -> None:
    retriever = langchain.CitewellRetriever(citewell=opened, top_k=2)
    found = retriever.invoke("How many seagulls are there?")
    assert found[0].metadata["record_id"] == "birds"
    assert len(found) <= 2
    assert found[0].page_content == "Forty-two seagulls nest on the pier."
    assert found[0].metadata["filename"] == "Birds"
    assert json.loads(json.dumps(found[0].metadata)) == found[0].metadata
    assert await retriever.ainvoke("How many seagulls are there?") == found


async def test_a_llamaindex_retriever_returns_scored_nodes_with_their_source(opened: Citewell) -> None:
    retriever = llamaindex.CitewellRetriever(opened, top_k=2)
    found = retriever.retrieve("When does the office open?")
    assert found[0].metadata["record_id"] == "hours"
    assert found[0].text == "The harbour office opens at eight."
    assert found[0].score is not None
    again = await retriever.aretrieve("When does the office open?")
    assert [node.node_id for node in again] == [node.node_id for node in found]


def test_a_retriever_keeps_to_its_scope(opened: Citewell) -> None:
    (birds,) = [r.id for r in opened.resources() if r.record_id == "birds"]
    scoped = langchain.CitewellRetriever(citewell=opened, resource_ids=[birds])
    assert {document.metadata["record_id"] for document in scoped.invoke("the crane and the office")} == {"birds"}


async def test_langchains_number_of_results_may_be_given_with_the_query(opened: Citewell) -> None:
    retriever = langchain.CitewellRetriever(citewell=opened)
    assert len(retriever.invoke("the office, the seagulls and the crane", top_k=1)) == 1
    assert len(await retriever.ainvoke("the office, the seagulls and the crane", top_k=2)) == 2


def test_a_llamaindex_retriever_answers_within_a_query_engine(opened: Citewell) -> None:
    engine = RetrieverQueryEngine.from_args(llamaindex.CitewellRetriever(opened, top_k=1), llm=MockLLM())
    answer = engine.query("How many seagulls are there?")
    assert [node.metadata["record_id"] for node in answer.source_nodes] == ["birds"]
