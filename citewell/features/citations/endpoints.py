"""HTTP for checking answers written elsewhere."""

from __future__ import annotations

from typing import cast

from fastapi import Request

from citewell.features.citations.schemas import CheckedAnswerOut, CitationCheckIn
from citewell.features.citations.service import CitationService
from citewell.features.declared import READ, narrowed, not_audited
from citewell.features.http import ERROR_RESPONSES, NarrowedGrant
from citewell.features.json_bodies import SoundRoute
from citewell.features.routing import Router
from citewell.features.schemas import CitationOut
from citewell.types import AnswerPiece

router = Router(tags=["citations"], responses=ERROR_RESPONSES, route_class=SoundRoute)


@router.post(
    "/citations/check", access=narrowed(READ), audit=not_audited("stores nothing, and returns only what it received")
)
async def check_citations(request: Request, body: CitationCheckIn, grant: NarrowedGrant) -> CheckedAnswerOut:
    """Check the citations of an answer that another program wrote from passages of `/search`."""
    service: CitationService = request.app.state.services.citations
    pieces = [AnswerPiece(piece.text, tuple(piece.chunk_ids)) for piece in body.pieces]
    answer = await service.check(grant.owner_id, pieces, body.seen, projects=grant.narrowed(None))
    return CheckedAnswerOut(
        answer=answer.text,
        citations=[CitationOut.of(citation) for citation in answer.citations],
        answered=answer.answered,
        confidence=answer.confidence,
        removed_citations=cast(list[str], answer.trace["removed_citations"]),
    )
