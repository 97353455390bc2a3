"""What an implementation of a port can do beyond what all must."""

from __future__ import annotations

from enum import StrEnum


class Capability(StrEnum):
    """A capability that an implementation declares; the conformance suite tests each one declared."""

    SPARSE = "sparse"
    FILTERS = "filters"
    PERSISTENT = "persistent"
    EVENTUAL = "eventual"
    """What was written is found a little later; `settle` waits until it is."""
    SERVER_SIDE_EMBEDDING = "server_side_embedding"
    MULTIMODAL = "multimodal"
    TOOLS = "tools"
    STRUCTURED_OUTPUT = "structured_output"
    SEARCH_RESULT_BLOCKS = "search_result_blocks"
