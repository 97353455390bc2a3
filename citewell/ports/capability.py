"""Optional capabilities of a port's implementation."""

from __future__ import annotations

from enum import StrEnum


class Capability(StrEnum):
    """An optional feature that an implementation declares; the conformance suite tests every declared one."""

    SPARSE = "sparse"
    FILTERS = "filters"
    PERSISTENT = "persistent"
    EVENTUAL = "eventual"
    """Writes become visible after a delay; `settle` waits for it."""
    SERVER_SIDE_EMBEDDING = "server_side_embedding"
    MULTIMODAL = "multimodal"
    TOOLS = "tools"
    STRUCTURED_OUTPUT = "structured_output"
    SEARCH_RESULT_BLOCKS = "search_result_blocks"
