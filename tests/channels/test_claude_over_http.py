"""Claude's tools with a running Citewell server: only its address and a token, and the same answers as with the folder open."""

from __future__ import annotations

import ast
import base64
import io
import re
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any, cast

import anthropic
import pytest
from anthropic.types import MessageParam
from PIL import Image, ImageDraw
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

import tests.contract_servers.anthropic as contract
from citewell.channels.claude import AsyncCitewellServer, AsyncClaudeFiles, CitewellServer, ClaudeFiles
from citewell.errors import CitewellError, InvalidInput, NotFound, Unauthorized, Unavailable
from citewell.system.folder import DataFolder
from citewell.types import AnswerPiece, ChunkType, RerankLimits, Verdict
from tests.channels.conversation import Searching
from tests.channels.test_claude import ROOT
from tests.contract_servers.anthropic import KEY, AnthropicServer
from tests.contract_servers.serving import serving
from tests.server.in_process import InProcessServer
from tests.server.running import Server

pytestmark = [pytest.mark.full, pytest.mark.slow(20)]
STATEMENT = "A first-time borrower may receive at most GHS 5,000"
CALL = {"type": "tool_use", "id": "toolu_1", "name": "search_user_files"}


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with the loan policy and two notes of different threads."""
    with InProcessServer(tmp_path_factory.mktemp("own")) as server:
        server.add("Loan Policy.pdf", (ROOT / "samples" / "Loan Policy.pdf").read_bytes())
        server.add("Lighthouse.md", b"The lamp of the lighthouse turns once every twelve seconds.")
        yield server


def _sign() -> bytes:
    image = Image.new("RGB", (640, 200), "white")
    ImageDraw.Draw(image).text((20, 60), "Lamp room: no entry", fill="black", font_size=48)
    image.save(written := io.BytesIO(), "PNG")
    return written.getvalue()


def _token(server: Server) -> str:
    return DataFolder(server.data).token()


@pytest.fixture
def files(own: Server) -> ClaudeFiles:
    return ClaudeFiles(CitewellServer(own.url, _token(own)))


def _search(files: ClaudeFiles, **arguments: object) -> list[dict[str, Any]]:
    result = cast(dict[str, Any], files.result({**CALL, "input": arguments}))
    assert "is_error" not in result, result
    return result["content"]


def test_the_program_of_the_documentation_prints_a_checked_answer(
    own: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (ROOT / "docs" / "claude.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"```python title=\"ask_server\.py\"\n(.*?)```", page, re.DOTALL)
    (model,) = set(re.findall(r'model="([\w-]+)"', program))
    server = AnthropicServer(Searching({"query": "maximum loan size for first-time borrowers"}, STATEMENT, STATEMENT))
    monkeypatch.setattr(contract, "MODELS", (model,))
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("FILES_TOKEN", _token(own))
    assert program.count("http://127.0.0.1:8000") == 1
    with serving(server.app) as url:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
        exec(compile(program.replace("http://127.0.0.1:8000", own.url), "ask_server.py", "exec"), {})
    assert capsys.readouterr().out == f"{STATEMENT} [1]. [(1, 'Loan Policy.pdf (p. 3)', 'supported')]\n"
    statements = [one for one in ast.walk(ast.parse(program)) if isinstance(one, ast.stmt)]
    assert len([one for one in statements if not isinstance(one, ast.Import | ast.ImportFrom)]) <= 10
    assert [tool["name"] for tool in server.requests[0]["tools"]] == ["search_user_files", "analyze_image"]


def test_results_are_as_those_of_the_open_folder(files: ClaudeFiles) -> None:
    best, *_ = _search(files, query="maximum loan size for first-time borrowers", file_types=["pdf"])
    assert best["title"] == "Loan Policy.pdf (page 3)"
    assert re.fullmatch(r"resources/[\w-]+/chunks/[\w-]+", best["source"])
    assert STATEMENT in best["content"][0]["text"]
    assert best["citations"] == {"enabled": True}


def test_filters_thresholds_and_counts_reach_the_server(files: ClaudeFiles) -> None:
    assert len(_search(files, query="loan", top_k=2)) == 2
    assert {one["title"] for one in _search(files, query="loan lamp", file_types=["document"])} == {"Lighthouse.md"}
    (nothing,) = _search(files, query="quantum chromodynamics", threshold=0.9)
    assert nothing["text"].startswith("Nothing was found.")
    (nothing,) = _search(files, query="lamp", thread_id=9)
    assert nothing["text"].startswith("Nothing was found.")


async def test_every_wish_of_a_search_is_understood_by_the_server(own: Server) -> None:
    server = AsyncCitewellServer(own.url, _token(own))
    (resource,) = [r for r in own.client.get("/resources").json()["resources"] if r["filename"] == "Lighthouse.md"]
    found = await server.search_result(
        "lamp", 3, resource_ids=iter([resource["id"]]), types=[ChunkType.TEXT], vector_threshold=0.1,
        conditions={"any": [{"field": "filename", "value": "Lighthouse.md"}]}, rerank=False,
        rerank_limits=RerankLimits(), ignore_inferred=("date",), time_zone="Europe/Berlin",
    )  # fmt: skip
    assert [hit.filename for hit in found.hits] == ["Lighthouse.md"]
    with pytest.raises(NotFound, match="no such"):
        await server.search_result("lamp", projects=["no such"])


async def test_citations_are_checked_with_asyncio_too(own: Server) -> None:
    server = AsyncCitewellServer(own.url, _token(own))
    (hit, *_) = (await server.search_result("lamp of the lighthouse", 1)).hits
    wrong = AnswerPiece("The lamp turns every ninety seconds", (hit.chunk.id, hit.chunk.id))
    answer = await server.check([wrong, AnswerPiece(".")], seen=[hit.chunk.id])
    assert [citation.verdict for citation in answer.citations] == [Verdict.UNSUPPORTED]
    nobodys = str(uuid.uuid4())
    said = {"type": "search_result_location", "search_result_index": 0, "source": f"resources/a/chunks/{nobodys}"}
    reply = [{"type": "text", "text": "It turns.", "citations": [said]}]
    removed = await AsyncClaudeFiles(server).answer(reply, [{"role": "user", "content": "?"}])
    assert (removed.text, removed.citations) == ("It turns.", ())
    assert removed.trace["removed_citations"] == [nobodys]


def _looked(files: ClaudeFiles, wanted: str) -> dict[str, Any]:
    return cast(dict[str, Any], files.result({**CALL, "name": "analyze_image", "input": {"resource_id": wanted}}))


def test_a_picture_is_sent_to_claude_by_its_own_client(own: Server, files: ClaudeFiles) -> None:
    sign = own.add("Sign.png", _sign(), project="Coast", identifier="sign-7")["id"]
    script = Searching({"resource_id": sign}, "It forbids entry", "no such evidence", tool="analyze_image")
    server = AnthropicServer(script)
    messages: list[MessageParam] = [{"role": "user", "content": "What does the sign say?"}]
    with serving(server.app) as url:
        claude = anthropic.Anthropic(api_key=KEY, base_url=url)
        while True:
            reply = claude.messages.create(model="claude-test", max_tokens=1024, tools=files.tools, messages=messages)
            if reply.stop_reason != "tool_use":
                break
            messages.append({"role": "assistant", "content": reply.content})
            messages.append({"role": "user", "content": files.results(reply)})
    (result,) = server.requests[-1]["messages"][-1]["content"]
    label, image = result["content"]
    assert label == {"type": "text", "text": "Picture: Sign.png"}
    assert image["source"]["media_type"] == "image/png"
    assert base64.b64decode(image["source"]["data"]) == _sign()
    found, *_ = _search(files, query="lamp room entry", file_types=["image"])
    for wanted in (found["source"], "sign-7"):
        assert _looked(files, wanted)["content"] == result["content"]


def test_a_picture_outside_of_what_the_tools_see_is_not_shown(own: Server) -> None:
    sign = own.add("Sign.png", _sign(), project="Coast", identifier="sign-7")["id"]
    server = CitewellServer(own.url, _token(own))
    own.add("Inland.md", b"The meadow is mown in June.", project="Inland")
    image = {"field": "category", "value": "image"}
    assert "is_error" not in _looked(ClaudeFiles(server, project="Coast", conditions=[image]), sign)
    for narrowed in (
        ClaudeFiles(server, project="Inland"),
        ClaudeFiles(server, resource_ids=["no such"]),
        ClaudeFiles(server, conditions={"not": image}),
    ):
        told = _looked(narrowed, sign)
        assert told["is_error"]
        assert told["content"].startswith("The user has no file or passage")
    (lighthouse,) = [r["id"] for r in own.client.get("/resources?q=Lighthouse").json()["resources"]]
    assert _looked(ClaudeFiles(server), lighthouse)["content"].startswith("Lighthouse.md is not a picture.")
    for nothing in ("nothing", "resources/a/chunks/b", "../../etc/passwd"):
        assert _looked(ClaudeFiles(server), nothing)["is_error"]


async def test_it_works_where_a_loop_is_running_as_in_a_notebook(files: ClaudeFiles) -> None:
    assert _search(files, query="lamp", top_k=1)[0]["title"] == "Lighthouse.md"


def test_a_wrong_token_is_the_programs_to_mend(own: Server) -> None:
    files = ClaudeFiles(CitewellServer(own.url, "nobody's"))
    with pytest.raises(Unauthorized):
        files.result({**CALL, "input": {"query": "lamp"}})
    with pytest.raises(InvalidInput, match="Copy it again"):
        CitewellServer(own.url, "a\nb")


def test_another_project_is_not_there(own: Server) -> None:
    files = ClaudeFiles(CitewellServer(own.url, _token(own), project="no such"))
    assert cast(dict[str, Any], files.result({**CALL, "input": {"query": "lamp"}}))["is_error"]


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "ftp://127.0.0.1", "nonsense", "http://[::"])
def test_an_address_where_nothing_answers_is_named(url: str) -> None:
    files = ClaudeFiles(CitewellServer(url, "t"))
    told = cast(dict[str, Any], files.result({**CALL, "input": {"query": "lamp"}}))
    assert told["content"].startswith(f"{url} does not answer.")
    with pytest.raises(Unavailable):
        files.answer([{"type": "text", "text": "a"}])


@pytest.mark.parametrize("answered", [HTMLResponse("<p>hello"), JSONResponse([]), JSONResponse({"hits": [{}]})])
def test_what_is_not_citewell_is_told(answered: Response) -> None:
    async def anything(_: Request) -> Response:
        return answered

    messages: list[MessageParam] = [{"role": "user", "content": "?"}]
    with serving(Starlette(routes=[Route("/{path:path}", anything, methods=["POST"])])) as url:
        files = ClaudeFiles(CitewellServer(url, "t"))
        told = cast(dict[str, Any], files.result({**CALL, "input": {"query": "lamp"}}))
        assert told["content"] == "The server answers, but not as Citewell does. Check its address and version."
        with pytest.raises(Unavailable):
            files.answer(anthropic.types.Message.model_construct(content=[]), messages)


async def _half(_: Request) -> Response:
    async def pieces() -> AsyncIterator[bytes]:
        yield b'{"hits": ['
        raise ConnectionError("the connection breaks here, as the test wants")

    return StreamingResponse(pieces(), headers={"content-length": "1000"})


def _refusing(status: int, code: str, message: str) -> Callable[[Request], Awaitable[Response]]:
    async def refuse(_: Request) -> Response:
        return JSONResponse({"error": {"code": code, "message": message, "details": {}}}, status)

    return refuse


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (
            _refusing(429, "rate_limited", "Too many requests. Try again in 7 s."),
            "Too many requests. Try again in 7 s.",
        ),
        (_refusing(500, "internal", "Something failed here."), "Something failed here."),
        (_half, "does not answer"),
    ],
    ids=["429", "500", "half"],
)
def test_a_server_that_fails_is_told_to_claude_and_asked_again(
    fault: Callable[[Request], Awaitable[Response]], said: str
) -> None:
    answers = [fault, fault]

    async def anything(request: Request) -> Response:
        return await answers.pop(0)(request) if answers else JSONResponse({"hits": []})

    with serving(Starlette(routes=[Route("/{path:path}", anything, methods=["POST"])])) as url:
        files = ClaudeFiles(CitewellServer(url, "t"))
        told = cast(dict[str, Any], files.result({**CALL, "input": {"query": "lamp"}}))
        assert told["is_error"]
        assert said in told["content"]
        with pytest.raises(CitewellError, match=said):
            files.answer([{"type": "text", "text": "a"}])
        assert "is_error" not in files.result({**CALL, "input": {"query": "lamp"}})
