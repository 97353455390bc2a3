"""The encoder as one ONNX graph, in float32 (to calibrate and compare) or int8 (what ships).

Input `input_ids` (texts, tokens), int64: texts of one length, so there is no padding, no mask, and no arithmetic on nothing; or, where the
caller looks the words up, their vectors `words` (texts, tokens, 384), float32.
Outputs, float32: `sentence` (texts, 384), the mean of the token states, and `token_vectors` (texts, tokens, 384), the states
themselves, both of unit length; with a head, `logits` (texts, tokens, outputs of the head) in their place, and, where it is wanted, `vector`
(texts, 384), computed of the first token's state, of unit length. Operators of the `com.microsoft` domain are ONNX Runtime's own, on every platform it has.

Inside, states have shape (1, rows, width), one row per token of any text; attention alone sees (texts, tokens, width).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

from model_export.quantise import LARGEST_ACTIVATION, QuantisedDense, rows_of
from model_export.weights import HEADS, WIDTH, Block, Dense, Norm, Weights

_MS = "com.microsoft"
_OPSET, _IR_VERSION = 17, 8
_EPSILON = 1e-12


class EncoderGraph:
    """Builds the graph node by node; `quantised` holds the int8 form of dense layers by name (none: float32).

    `head` computes something of each token's state, and `vector` of the first one's, always in float32. `name`: the model's; with `given_words`, its input is their vectors.
    """

    def __init__(
        self,
        weights: Weights,
        quantised: Mapping[str, QuantisedDense] | None = None,
        head: Dense | None = None,
        *,
        vector: Dense | None = None,
        name: str = "all-MiniLM-L6-v2",
        given_words: bool = False,
    ) -> None:
        self.weights = weights
        self.name = name
        self.given_words = given_words
        self.vector = vector
        self.quantised = quantised or {}
        self.head = head
        self.dense_inputs: dict[str, str] = {}
        self._nodes: list[onnx.NodeProto] = []
        self._constants: dict[str, onnx.TensorProto] = {}

    def build(self) -> onnx.ModelProto:
        """The finished model."""
        self._shapes()
        states = self._embed()
        for number, block in enumerate(self.weights.blocks):
            states = self._block(block, number, states)
        states = self._op("Reshape", [states, "by_text"])
        value = helper.make_tensor_value_info
        inputs = [value("input_ids", TensorProto.INT64, ["texts", "tokens"])]
        if self.given_words:
            inputs = [value("words", TensorProto.FLOAT, ["texts", "tokens", WIDTH])]
        if self.head is None:
            mean = self._op("ReduceMean", [states], axes=[1], keepdims=0)
            self._op("LpNormalization", [mean], output="sentence", axis=-1, p=2)
            self._op("LpNormalization", [states], output="token_vectors", axis=-1, p=2)
            outputs = [
                value("sentence", TensorProto.FLOAT, ["texts", WIDTH]),
                value("token_vectors", TensorProto.FLOAT, ["texts", "tokens", WIDTH]),
            ]
        else:
            weight, bias = (self._constant(f"head.{name}", getattr(self.head, name)) for name in ("weight", "bias"))
            self._op("Add", [self._op("MatMul", [states, weight]), bias], output="logits")
            outputs = [value("logits", TensorProto.FLOAT, ["texts", "tokens", len(self.head.bias)])]
        if self.vector is not None:
            first = self._op("Gather", [states, self._integers(0)], axis=1)
            first = self._op("Reshape", [first, self._integers(-1, WIDTH)])
            weight, bias = (self._constant(f"vector.{name}", getattr(self.vector, name)) for name in ("weight", "bias"))
            turned = self._op("Add", [self._op("MatMul", [first, weight]), bias])
            self._op("LpNormalization", [turned], output="vector", axis=-1, p=2)
            outputs.append(value("vector", TensorProto.FLOAT, ["texts", len(self.vector.bias)]))
        graph = helper.make_graph(self._nodes, self.name, inputs, outputs, list(self._constants.values()))
        opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_MS, 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION, producer_name="citewell")
        onnx.checker.check_model(model)
        return model

    def _shapes(self) -> None:
        """The shapes by row and by text, and as many ones and zeros as there are rows."""
        self._op("Shape", ["words" if self.given_words else "input_ids"], output="texts_tokens", end=2)
        rows = self._op("ReduceProd", ["texts_tokens"], output="rows", keepdims=1)
        self._op("Concat", [self._integers(1), rows, self._integers(-1)], output="by_row", axis=0)
        self._op("Concat", ["texts_tokens", self._integers(-1)], output="by_text", axis=0)
        for name, number in (("ones", 1.0), ("zeros", 0.0)):
            fill = numpy_helper.from_array(np.array([number], np.float32))
            self._op("ConstantOfShape", [rows], output=name, value=fill)

    def _embed(self) -> str:
        tokens = self._op("Slice", ["texts_tokens", self._integers(1), self._integers(2)])
        positions = self._op("Slice", [self._constant("positions", self.weights.positions), self._integers(0), tokens])
        if self.given_words:
            words = "words"
        elif not self.quantised:
            words = self._op("Gather", [self._constant("words", self.weights.words), "input_ids"])
        else:
            integers, step = rows_of(self.weights.words)
            rows = self._op("Gather", [self._constant("words", integers), "input_ids"])
            steps = self._op("Gather", [self._constant("words.scale", step), "input_ids"])
            words = self._op("Mul", [self._op("Cast", [rows], to=TensorProto.FLOAT), steps])
        embedded = self._op("Add", [words, positions])
        return self._norm(self.weights.norm, self._op("Reshape", [embedded, "by_row"]))

    def _block(self, block: Block, number: int, states: str) -> str:
        qkv, bias = self._product(block.qkv, states)
        parts = [f"query_{number}", f"key_{number}", f"value_{number}"]
        by_text = self._op("Reshape", [qkv, "by_text"])
        self._nodes.append(helper.make_node("Split", [by_text, self._integers(*[WIDTH] * 3)], parts, axis=-1))
        mixed = self._op("MultiHeadAttention", [*parts, bias], domain=_MS, num_heads=HEADS)
        attended = self._biased(*self._product(block.attention_out, self._op("Reshape", [mixed, "by_row"])))
        states = self._norm(block.attention_norm, self._op("Add", [attended, states]))
        active = self._op("BiasGelu", [*self._product(block.up, states)], domain=_MS)
        down = self._biased(*self._product(block.down, active))
        return self._norm(block.norm, self._op("Add", [down, states]))

    def _product(self, dense: Dense, x: str) -> tuple[str, str]:
        """The matrix product without its bias, and the bias, which the next operator may take in."""
        self.dense_inputs[dense.name] = x
        quantised = self.quantised.get(dense.name)
        if quantised is None:
            product = self._op("MatMul", [x, self._constant(f"{dense.name}.weight", dense.weight)])
            return product, self._constant(f"{dense.name}.bias", dense.bias)
        zero_point = self._constant(f"zero_point_{quantised.zero_point}", np.array(quantised.zero_point, np.uint8))
        scaled = self._op("Mul", [x, self._constant(f"{dense.name}.factor", quantised.factor)])
        step = None if quantised.least_step is None else self._steps(scaled, quantised, quantised.least_step)
        if step:
            scaled = self._op("Div", [scaled, step])
        integers = self._op("QuantizeLinear", [scaled, self._number(1), zero_point])
        weight = self._constant(f"{dense.name}.weight", quantised.weight)
        scale = self._constant(f"{dense.name}.scale", quantised.scale)
        factors = [integers, weight, self._number(1), scale, zero_point]
        product = self._op("MatMulIntegerToFloat", factors, domain=_MS)
        if step:
            product = self._op("Mul", [product, step])
        return product, self._constant(f"{dense.name}.bias", quantised.bias)

    def _steps(self, scaled: str, quantised: QuantisedDense, least: float) -> str:
        """The step of each row, shape (1, rows, 1)."""
        most = self._op("ReduceMax", [scaled], axes=[-1], keepdims=1)
        levels = LARGEST_ACTIVATION - quantised.zero_point
        return self._op("Max", [self._op("Mul", [most, self._number(1 / levels)]), self._number(least)])

    def _biased(self, product: str, bias: str) -> str:
        return self._op("Add", [product, bias])

    def _norm(self, norm: Norm, x: str) -> str:
        """Layer normalisation as instance normalisation of rows: ONNX Runtime computes this one with vector instructions."""
        normal = self._op("InstanceNormalization", [x, "ones", "zeros"], epsilon=_EPSILON)
        scaled = self._op("Mul", [normal, self._constant(f"{norm.name}.gain", norm.gain)])
        return self._op("Add", [scaled, self._constant(f"{norm.name}.bias", norm.bias)])

    def _op(self, kind: str, inputs: list[str], output: str = "", domain: str = "", **attributes: object) -> str:
        name = output or f"{kind}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(kind, inputs, [name], name=name, domain=domain, **attributes))
        return name

    def _integers(self, *numbers: int) -> str:
        return self._constant("integers_" + "_".join(map(str, numbers)), np.array(numbers, np.int64))

    def _number(self, number: float) -> str:
        return self._constant(f"number_{number}", np.array(number, np.float32))

    def _constant(self, name: str, array: npt.NDArray[np.generic]) -> str:
        if name not in self._constants:
            self._constants[name] = numpy_helper.from_array(np.ascontiguousarray(array), name)
        return name
