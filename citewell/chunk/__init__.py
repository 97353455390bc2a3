"""Elements to chunks: pure, streaming, and never longer than what the embedder reads."""

from citewell.chunk.chunker import chunk_elements
from citewell.chunk.config import ChunkConfig, Strategy
from citewell.chunk.tokenizing import SentenceEmbedder, Tokenizer

__all__ = ["ChunkConfig", "SentenceEmbedder", "Strategy", "Tokenizer", "chunk_elements"]
