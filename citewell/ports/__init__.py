"""Ports: the protocols through which the core reaches models and stores. Adapters implement them.

All methods are async and may be called from several tasks at once. Errors are those of `citewell.errors`
(`Provider…` from vendors, `Unavailable` from stores); adapters leak no vendor exception.
"""

from __future__ import annotations

from citewell.ports.capability import Capability
from citewell.ports.chat import (
    ChatDelta,
    ChatMessage,
    ChatModel,
    ImageInput,
    SourceBlock,
    TokenUsage,
    ToolCall,
    ToolSpec,
    VisionModel,
)
from citewell.ports.embedding import (
    CallLimits,
    Embedder,
    EmbeddingPlan,
    Fingerprint,
    FloatMatrix,
    MultimodalEmbedder,
    Pictured,
    PlanningEmbedder,
    RemoteEmbedder,
    Reranked,
    Reranker,
    TextKind,
    TokenEmbedder,
    Tokenizer,
    capabilities_of,
    multimodal,
)
from citewell.ports.stores import BlobStore, VectorIndex
from citewell.ports.wrappers import (
    Ask,
    ChatModelWrapper,
    EmbedderWrapper,
    RerankerWrapper,
    VisionModelWrapper,
    close_connections,
)

__all__ = [
    "Ask",
    "BlobStore",
    "CallLimits",
    "Capability",
    "ChatDelta",
    "ChatMessage",
    "ChatModel",
    "ChatModelWrapper",
    "Embedder",
    "EmbedderWrapper",
    "EmbeddingPlan",
    "Fingerprint",
    "FloatMatrix",
    "ImageInput",
    "MultimodalEmbedder",
    "Pictured",
    "PlanningEmbedder",
    "RemoteEmbedder",
    "Reranked",
    "Reranker",
    "RerankerWrapper",
    "SourceBlock",
    "TextKind",
    "TokenEmbedder",
    "TokenUsage",
    "Tokenizer",
    "ToolCall",
    "ToolSpec",
    "VectorIndex",
    "VisionModel",
    "VisionModelWrapper",
    "capabilities_of",
    "close_connections",
    "multimodal",
]
