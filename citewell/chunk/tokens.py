"""The `tokens` strategy: a number of tokens with overlap, cut between paragraphs where that is near, else sentences."""

from __future__ import annotations

from citewell.chunk.atoms import atoms_of, divide
from citewell.chunk.config import ChunkConfig
from citewell.chunk.context import ContextLine
from citewell.chunk.flow import Cut, Flow
from citewell.chunk.packing import overlap_start, pack
from citewell.chunk.tokenizing import Tokenizer


def cut_tokens(flow: Flow, config: ChunkConfig, tokenizer: Tokenizer, context: ContextLine) -> list[Cut]:
    """Cuts of a flow, headings included in the text; each is placed under the heading path where it begins."""
    used = max((context.of(headings)[1] for headings in {part.headings for part in flow.parts}), default=0)
    limit = min(config.effective_size, config.token_budget - used)
    overlap = min(config.effective_overlap, limit // 2)
    units = divide(flow, atoms_of(flow, tokenizer), limit - overlap, tokenizer)
    cuts: list[Cut] = []
    for first, after in pack(units, limit - overlap):
        start = overlap_start(flow, units, first, overlap, 0, tokenizer)
        cuts.append(Cut(start, units[after - 1].end, flow.headings_at(start)))
    return cuts
