"""Everything that HTTP offers for the browser interface in particular."""

from __future__ import annotations

from fastapi import APIRouter

from citewell.features.samples.endpoints import router as samples_router
from citewell.features.suggestions.endpoints import router as suggestions_router
from citewell.features.tables.endpoints import router as tables_router
from citewell.features.web.sessions import router as sessions_router

router = APIRouter()
for part in (sessions_router, suggestions_router, samples_router, tables_router):
    router.include_router(part)
