"""Other frameworks' own calls, sync and async, over a real data folder."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine

from citewell import Citewell
from citewell.errors import InvalidFilter
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


def test_langchains_own_conformance_tests_pass(opened: Citewell) -> None:
    """Each test of LangChain's suite for retrievers, where its package is installed."""
    suite = pytest.importorskip("langchain_tests.integration_tests")

    class Conforming(suite.RetrieversIntegrationTests):
        retriever_constructor = langchain.CitewellRetriever
        retriever_constructor_params = {"citewell": opened}  # noqa: RUF012
        retriever_query_example = "the office, the seagulls and the crane"
        num_results_arg_name = "top_k"

    tests = Conforming()
    tests.test_k_constructor_param()
    retriever = langchain.CitewellRetriever(citewell=opened)
    tests.test_invoke_with_k_kwarg(retriever)
    tests.test_invoke_returns_documents(retriever)


async def test_langchains_number_of_results_may_be_given_with_the_query(opened: Citewell) -> None:
    retriever = langchain.CitewellRetriever(citewell=opened)
    assert len(retriever.invoke("the office, the seagulls and the crane", top_k=1)) == 1
    assert len(await retriever.ainvoke("the office, the seagulls and the crane", top_k=2)) == 2


def test_a_llamaindex_retriever_answers_within_a_query_engine(opened: Citewell) -> None:
    engine = RetrieverQueryEngine.from_args(llamaindex.CitewellRetriever(opened, top_k=1), llm=MockLLM())
    answer = engine.query("How many seagulls are there?")
    assert [node.metadata["record_id"] for node in answer.source_nodes] == ["birds"]


async def test_a_haystack_retriever_works_in_a_pipeline(opened: Citewell) -> None:
    haystack = pytest.importorskip("haystack")
    from citewell.integrations.haystack import CitewellRetriever

    retriever = CitewellRetriever(opened, top_k=2)
    pipeline = haystack.Pipeline()
    pipeline.add_component("retriever", retriever)
    found = pipeline.run({"retriever": {"query": "How many seagulls are there?"}})["retriever"]["documents"]
    assert found[0].meta["record_id"] == "birds"
    assert found[0].content == "Forty-two seagulls nest on the pier."
    assert (await retriever.run_async("How many seagulls are there?"))["documents"] == found
    office = {"field": "meta.metadata.tags", "operator": "==", "value": "office"}
    narrowed = retriever.run("the office, the seagulls and the crane", filters=office)["documents"]
    assert {one.meta["record_id"] for one in narrowed} == {"hours"}
    others = {"operator": "NOT", "conditions": [office]}
    assert "hours" not in {one.meta["record_id"] for one in retriever.run("office", filters=others)["documents"]}
    with pytest.raises(InvalidFilter):
        retriever.run("office", filters={"operator": "~", "field": "meta.tags", "value": "x"})
    with pytest.raises(ValueError, match="path"):
        retriever.to_dict()
    stored = CitewellRetriever("folder", top_k=3, project="Notes", filters=office).to_dict()
    assert CitewellRetriever.from_dict(json.loads(json.dumps(stored))).to_dict() == stored
