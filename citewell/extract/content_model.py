"""The content-type model (Magika), run by one thread, so that the template process can load it before it forks."""

from __future__ import annotations

from functools import cache

import onnxruntime
from magika import Magika


class _OneThreaded(Magika):
    """Magika with a session that owns no threads: those of the default one would not exist in a fork, which would hang."""

    def _init_onnx_session(self) -> onnxruntime.InferenceSession:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        return onnxruntime.InferenceSession(self._model_path, options, providers=["CPUExecutionProvider"])


@cache
def content_model() -> Magika:
    """The model, loaded once (some 90 ms)."""
    return _OneThreaded()
