"""The content-type model (Magika) in single-threaded form, so that the template process can load it before forking."""

from __future__ import annotations

from functools import cache

import onnxruntime
from magika import Magika


class _OneThreaded(Magika):
    """Magika with a single-threaded session: a thread pool does not survive a fork, so the child would hang."""

    def _init_onnx_session(self) -> onnxruntime.InferenceSession:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        return onnxruntime.InferenceSession(self._model_path, options, providers=["CPUExecutionProvider"])


@cache
def content_model() -> Magika:
    """Returns the model, loaded once (about 90 ms)."""
    return _OneThreaded()
