"""The vendors' own packages, unmodified, against the contract servers: what proves that a server answers as its vendor does.

Our adapters call Voyage, Pinecone's inference and Cohere by HTTP; here they get what the vendor's package gets.
"""

from __future__ import annotations

import io
from collections.abc import AsyncIterator, Iterator

import cohere
import httpx
import numpy as np
import pinecone
import pytest
import voyageai.error
from cohere.core.api_error import ApiError as CohereError
from cohere.errors import NotFoundError, TooManyRequestsError, UnauthorizedError
from PIL import Image
from pinecone.errors.exceptions import ApiError as PineconeError
from voyageai.client_async import AsyncClient as VoyageClient
from voyageai.video_utils import Video

from citewell.adapters import registry
from citewell.ports import Embedder, ImageInput, Pictured, Reranker, TextKind, close_connections, multimodal
from citewell.settings import load_settings
from citewell.testing.embedder_suite import TEXTS
from citewell.testing.reranker_suite import DOCUMENTS, QUERY
from tests.contract_servers import cohere as cohere_contract
from tests.contract_servers import pinecone as pinecone_contract
from tests.contract_servers import voyage as voyage_contract
from tests.contract_servers.cohere import CohereServer
from tests.contract_servers.faults import Fault, Faults
from tests.contract_servers.pinecone import PineconeServer
from tests.contract_servers.serving import serving
from tests.contract_servers.voyage import VoyageServer

pytestmark = pytest.mark.full

ADDRESSES: dict[object, str] = {}


@pytest.fixture
def voyage() -> Iterator[VoyageServer]:
    server = VoyageServer()
    with serving(server.app) as address:
        ADDRESSES[server] = f"{address}/v1"
        yield server


@pytest.fixture
def pinecone_server() -> Iterator[PineconeServer]:
    server = PineconeServer()
    with serving(server.app) as address:
        ADDRESSES[server] = address
        yield server


@pytest.fixture
def cohere_server() -> Iterator[CohereServer]:
    server = CohereServer()
    with serving(server.app) as address:
        ADDRESSES[server] = address
        yield server


@pytest.fixture
async def inference(pinecone_server: PineconeServer) -> AsyncIterator[pinecone.AsyncPinecone]:
    async with pinecone.AsyncPinecone(api_key=pinecone_contract.KEY, host=ADDRESSES[pinecone_server]) as client:
        yield client


def voyage_client(server: VoyageServer, key: str = voyage_contract.KEY) -> VoyageClient:
    return VoyageClient(api_key=key, base_url=ADDRESSES[server], max_retries=1)


def our_embedder(server: VoyageServer | PineconeServer, model: str, **more: object) -> Embedder:
    name = "voyage" if isinstance(server, VoyageServer) else "pinecone"
    key = voyage_contract.KEY if name == "voyage" else pinecone_contract.KEY
    settings = load_settings(
        embedding_provider=name,
        embedding_model=model,
        embedding_base_url=ADDRESSES[server],
        **{f"{name}_api_key": key},
        **more,
    )
    return registry.build_embedder(settings.embedding)


async def our_ranks(name: str, key: str, address: str, model: str) -> list[tuple[int, float]]:
    settings = load_settings(
        rerank_provider=name, rerank_base_url=address, rerank_model=model, **{f"{name}_api_key": key}
    )
    reranker = registry.build_reranker(settings.rerank)
    assert isinstance(reranker, Reranker)
    ranked = await reranker.rerank(QUERY, DOCUMENTS, 2)
    await close_connections(reranker)
    return [(one.index, round(one.score, 6)) for one in ranked]


def alike(ours: object, theirs: object) -> bool:
    """Whether vectors point the same way; ours are of length 1."""
    found = np.asarray(theirs, np.float32)
    return np.allclose(np.asarray(ours), found / np.linalg.norm(found, axis=1, keepdims=True), atol=1e-5)


@pytest.mark.parametrize("model", voyage_contract.CALL_TOKENS)
async def test_voyages_package_and_ours_get_the_same_vectors(voyage: VoyageServer, model: str) -> None:
    for kind in ("document", "query"):
        theirs = await voyage_client(voyage).embed(list(TEXTS), model=model, input_type=kind)
        embedder = our_embedder(voyage, model)
        assert alike(await embedder.embed(TEXTS, kind), theirs.embeddings)
        assert len(theirs.embeddings[0]) == embedder.fingerprint.dimensions
        assert theirs.total_tokens > 0
        await close_connections(embedder)


@pytest.mark.parametrize("size", [256, 2_048])
async def test_voyages_package_and_ours_choose_the_length_of_vectors_alike(voyage: VoyageServer, size: int) -> None:
    theirs = await voyage_client(voyage).embed(list(TEXTS), model="voyage-4", output_dimension=size)
    assert len(theirs.embeddings[0]) == size
    embedder = our_embedder(voyage, "voyage-4", embedding_dimensions=size)
    assert (await embedder.embed(TEXTS)).shape == (len(TEXTS), size)
    await close_connections(embedder)


@pytest.mark.parametrize("model", voyage_contract.MULTIMODAL)
async def test_voyages_package_and_ours_get_the_same_vectors_of_pictures(voyage: VoyageServer, model: str) -> None:
    picture, file = Image.new("RGB", (96, 64), "red"), io.BytesIO()
    picture.save(file, "PNG")
    inputs: list[list[str | Image.Image | Video]] = [["A red door."], [picture], ["A red door.", picture]]
    theirs = await voyage_client(voyage).multimodal_embed(inputs, model=model, input_type="document")
    embedder = our_embedder(voyage, model)
    seeing = multimodal(embedder)
    assert seeing is not None
    image = ImageInput(file.getvalue(), "image/png")
    pictures = await seeing.embed_pictures([Pictured(image), Pictured(image, "A red door.")])
    assert alike([*await embedder.embed(["A red door."]), *pictures], theirs.embeddings)
    assert (theirs.image_pixels, theirs.text_tokens > 0) == (2 * 96 * 64, True)
    await close_connections(embedder)


async def test_vectors_are_put_into_the_order_of_their_numbers(voyage: VoyageServer) -> None:
    embedder = our_embedder(voyage, "voyage-4")
    forward = await embedder.embed(TEXTS)
    voyage.turned = True
    assert np.array_equal(await embedder.embed(TEXTS), forward)
    await close_connections(embedder)


@pytest.mark.parametrize("model", ["rerank-3", "rerank-3-lite", "rerank-2.5", "rerank-2.5-lite", "rerank-2"])
async def test_voyages_package_and_ours_rank_alike(voyage: VoyageServer, model: str) -> None:
    theirs = await voyage_client(voyage).rerank(QUERY, list(DOCUMENTS), model=model, top_k=2)
    ours = await our_ranks("voyage", voyage_contract.KEY, ADDRESSES[voyage], model)
    assert [(one.index, round(one.relevance_score, 6)) for one in theirs.results] == ours


@pytest.mark.parametrize(
    ("texts", "model", "fault", "error"),
    [
        (["a"], "voyage-9", None, voyageai.error.InvalidRequestError),
        ([""], "voyage-4", None, voyageai.error.InvalidRequestError),
        (["a"] * 1_001, "voyage-4", None, voyageai.error.InvalidRequestError),
        (["word " * 500] * 250, "voyage-4-large", None, voyageai.error.InvalidRequestError),
        (["a"], "voyage-4", Fault(status=429), voyageai.error.RateLimitError),
        (["a"], "voyage-4", Fault(status=500), voyageai.error.ServerError),
        (["a"], "voyage-4", Fault(status=503), voyageai.error.ServiceUnavailableError),
    ],
)
async def test_voyages_package_understands_what_is_refused(
    voyage: VoyageServer, texts: list[str], model: str, fault: Fault | None, error: type[Exception]
) -> None:
    voyage.trouble = Faults(*[fault] if fault else [])
    with pytest.raises(error):
        await voyage_client(voyage).embed(texts, model=model)


async def test_voyages_package_understands_that_a_key_is_refused(voyage: VoyageServer) -> None:
    with pytest.raises(voyageai.error.AuthenticationError):
        await voyage_client(voyage, "wrong").embed(["a"], model="voyage-4")


@pytest.mark.parametrize("model", ["multilingual-e5-large", "llama-text-embed-v2"])
async def test_pinecones_package_and_ours_get_the_same_vectors(
    pinecone_server: PineconeServer, inference: pinecone.AsyncPinecone, model: str
) -> None:
    embedder = our_embedder(pinecone_server, model)
    kinds: dict[TextKind, str] = {"document": "passage", "query": "query"}
    for kind, named in kinds.items():
        theirs = await inference.inference.embed(model, list(TEXTS), {"input_type": named, "truncate": "END"})
        assert alike(await embedder.embed(TEXTS, kind), [one.values for one in theirs.data])
        assert theirs.usage.total_tokens > 0
    await close_connections(embedder)


async def test_pinecones_package_and_ours_rank_alike(
    pinecone_server: PineconeServer, inference: pinecone.AsyncPinecone
) -> None:
    model = "bge-reranker-v2-m3"
    theirs = await inference.inference.rerank(model, QUERY, list(DOCUMENTS), top_n=2)
    ours = await our_ranks("pinecone", pinecone_contract.KEY, ADDRESSES[pinecone_server], model)
    assert [(one.index, round(one.score, 6)) for one in theirs.data] == ours
    assert theirs.data[0].document is not None


@pytest.mark.parametrize(
    ("count", "model", "fault", "status"),
    [
        (1, "multilingual-e5-small", None, 404),
        (97, "multilingual-e5-large", None, 400),
        (1, "multilingual-e5-large", Fault(status=403), 403),
    ],
)
async def test_pinecones_package_understands_what_is_refused(
    pinecone_server: PineconeServer,
    inference: pinecone.AsyncPinecone,
    count: int,
    model: str,
    fault: Fault | None,
    status: int,
) -> None:
    pinecone_server.trouble = Faults(*[fault] if fault else [])
    with pytest.raises(PineconeError) as caught:
        await inference.inference.embed(model, ["a"] * count, {"input_type": "query"})
    assert caught.value.status_code == status


async def test_pinecones_package_understands_that_a_key_is_refused(pinecone_server: PineconeServer) -> None:
    async with pinecone.AsyncPinecone(api_key="wrong", host=ADDRESSES[pinecone_server]) as client:
        with pytest.raises(pinecone.UnauthorizedError):
            await client.inference.embed("multilingual-e5-large", ["a"], {"input_type": "query"})


@pytest.mark.parametrize("model", ["rerank-v3.5", "rerank-v4.0-fast", "rerank-v5.0-pro"])
async def test_coheres_package_and_ours_rank_alike(cohere_server: CohereServer, model: str) -> None:
    async with httpx.AsyncClient() as http:
        client = cohere.AsyncClientV2(api_key=cohere_contract.KEY, base_url=ADDRESSES[cohere_server], httpx_client=http)
        theirs = await client.rerank(model=model, query=QUERY, documents=list(DOCUMENTS), top_n=2)
    ours = await our_ranks("cohere", cohere_contract.KEY, f"{ADDRESSES[cohere_server]}/v2", model)
    assert [(one.index, round(one.relevance_score, 6)) for one in theirs.results] == ours


@pytest.mark.parametrize(
    ("key", "model", "documents", "fault", "error"),
    [
        ("wrong", "rerank-v3.5", ["a"], None, UnauthorizedError),
        (cohere_contract.KEY, "rerank-v9", ["a"], None, NotFoundError),
        (cohere_contract.KEY, "rerank-v3.5", [], None, CohereError),
        (cohere_contract.KEY, "rerank-v3.5", ["a"], Fault(status=429), TooManyRequestsError),
    ],
)
async def test_coheres_package_understands_what_is_refused(
    cohere_server: CohereServer, key: str, model: str, documents: list[str], fault: Fault | None, error: type[Exception]
) -> None:
    cohere_server.trouble = Faults(*[fault] * 9 if fault else [])
    async with httpx.AsyncClient() as http:
        client = cohere.AsyncClientV2(api_key=key, base_url=ADDRESSES[cohere_server], httpx_client=http)
        with pytest.raises(error):
            await client.rerank(model=model, query="a", documents=documents, request_options={"max_retries": 0})
