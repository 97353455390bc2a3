"""Cuts elements into chunks: pure, streaming, and never longer than the embedder reads."""

from citewell.chunk.chunker import chunk_elements
from citewell.chunk.config import ChunkConfig, Strategy
from citewell.chunk.strategies import SentenceEmbedder

__all__ = ["ChunkConfig", "SentenceEmbedder", "Strategy", "chunk_elements"]
