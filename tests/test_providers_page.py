"""docs/providers.md says of every provider what its adapter says, and against which specification it is tested."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from citewell.adapters.embedder import openai, pinecone, voyage
from citewell.adapters.reranker import cohere as cohere_rerank
from citewell.adapters.reranker import pinecone as pinecone_rerank
from citewell.adapters.reranker import tei as tei_rerank
from citewell.adapters.reranker import voyage as voyage_rerank
from citewell.errors import ProviderError
from citewell.settings.loading import PROVIDERS
from tests.contract_servers import cohere as cohere_contract
from tests.contract_servers import openai as openai_contract
from tests.contract_servers import pinecone as pinecone_contract
from tests.contract_servers import tei as tei_contract
from tests.contract_servers import voyage as voyage_contract

PAGE = (Path(__file__).parent.parent / "docs" / "providers.md").read_text(encoding="utf-8")
EMBEDDERS = {
    "openai": (openai, openai_contract.SPECIFICATION),
    "voyage": (voyage, voyage_contract.SPECIFICATION),
    "pinecone": (pinecone, pinecone_contract.SPECIFICATION),
}

RERANKERS = {
    "voyage": (voyage_rerank, voyage_rerank.VoyageReranker, voyage_contract.SPECIFICATION),
    "pinecone": (pinecone_rerank, pinecone_rerank.PineconeReranker, pinecone_contract.SPECIFICATION),
    "cohere": (cohere_rerank, cohere_rerank.CohereReranker, cohere_contract.SPECIFICATION),
    "tei": (tei_rerank, tei_rerank.TeiReranker, tei_contract.SPECIFICATION),
}


def _rows(section: str) -> dict[str, list[str]]:
    """The cells of a table, by the provider in the first one."""
    text = PAGE.partition(f"## {section}\n")[2].partition("\n## ")[0]
    cells = [
        [cell.strip() for cell in line.strip("| ").split(" | ")] for line in text.splitlines() if line.startswith("| `")
    ]
    return {row[0].strip("`"): row for row in cells}


def test_every_embedder_has_a_row() -> None:
    assert set(_rows("Embedders")) == set(PROVIDERS["embedding_provider"])


@pytest.mark.parametrize("name", EMBEDDERS)
def test_an_embedders_row_is_what_its_adapter_says(name: str) -> None:
    module, specification = EMBEDDERS[name]
    _, models, calls, _, tested = _rows("Embedders")[name]
    told = {model: int(length) for model, length in re.findall(r"([\w.-]+) \((\d+)", models)}
    assert told == {model: facts.dimensions for model, facts in module.MODELS.items()}
    assert next(iter(told)) == module.USUAL_MODEL
    assert f"{module.LIMITS.texts} texts" in calls
    assert tested == specification


def test_a_rerankers_row_is_what_its_adapter_says() -> None:
    rows = _rows("Rerankers")
    assert set(rows) == set(PROVIDERS["rerank_provider"])
    for name, (module, kind, specification) in RERANKERS.items():
        assert rows[name][1:3] == [module.USUAL_MODEL, str(kind.max_documents)]
        assert rows[name][4] == specification


def test_every_error_of_a_provider_is_explained() -> None:
    kinds = [ProviderError]
    for kind in kinds:
        kinds += kind.__subclasses__()
    explained = PAGE.partition("### Errors\n")[2].partition("\n#")[0]
    assert {kind.code for kind in kinds} - {"provider_error"} == set(re.findall(r"\| `(\w+)` \|", explained))
