"""The `characters` strategy: windows of a fixed number of characters, each repeating the end of the one before."""

from __future__ import annotations

from citewell.chunk.config import ChunkConfig
from citewell.chunk.flow import Cut, Flow


def cut_characters(flow: Flow, config: ChunkConfig) -> list[Cut]:
    """Cuts of a flow. A word that one window divides stands whole in the next, as long as the overlap is longer than it.

    Which page each character stands on is kept by the flow (`Flow.slices`), so that a window's pages are exact.
    """
    size, overlap = config.effective_size, config.effective_overlap
    cuts: list[Cut] = []
    for start in range(0, max(1, len(flow.text) - overlap), size - overlap):
        low, high = flow.trim(start, min(start + size, len(flow.text)))
        if low < high:
            cuts.append(Cut(low, high, flow.headings_at(low)))
    return cuts
