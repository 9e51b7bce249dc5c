"""A small text classifier as an ONNX file: one layer of attention and a sum, with random weights from a fixed seed."""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

WORDS = ("[PAD]", "[CLS]", "[SEP]", "[UNK]", "river", "valley", "click", "cash", "the", "runs", "of", "and", "a")
SIZE = 48


def write_tokenizer(path: Path) -> str:
    """Words at white space, with a mark before and after the text."""
    tokenizer = Tokenizer(WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)])
    tokenizer.save(str(path))
    return str(path)


def write_classifier(path: Path, outputs: int = 1, inputs: tuple[str, ...] = ("input_ids", "attention_mask")) -> str:
    """Embedding, attention that the mask bounds, layer norm, mean over tokens, `outputs` numbers a text."""
    draw = np.random.default_rng(3)
    weights = {
        "embedding": draw.normal(size=(len(WORDS), SIZE)),
        **{name: draw.normal(size=(SIZE, SIZE)) / SIZE**0.5 for name in ("query", "key", "value", "mix")},
        "scale": np.ones(SIZE),
        "shift": np.zeros(SIZE),
        "head": draw.normal(size=(SIZE, outputs)),
        "one": np.array(1.0),
        "far": np.array(-3.0e38),
    }
    constants = [numpy_helper.from_array(value.astype(np.float32), name) for name, value in weights.items()]
    constants += [
        numpy_helper.from_array(np.array([1, 2], np.int64), "both"),
        numpy_helper.from_array(np.array([2], np.int64), "last"),
        numpy_helper.from_array(np.array([1], np.int64), "tokens"),
    ]
    node = helper.make_node
    nodes = [
        node("Gather", ["embedding", "input_ids"], ["x"]),
        node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        node("Sub", ["one", "mask"], ["away"]),
        node("Mul", ["away", "far"], ["minus"]),
        node("Unsqueeze", ["minus", "tokens"], ["bias"]),
        *(node("MatMul", ["x", name], [name[0]]) for name in ("query", "key", "value")),
        node("Transpose", ["k"], ["kt"], perm=[0, 2, 1]),
        node("MatMul", ["q", "kt"], ["met"]),
        node("Add", ["met", "bias"], ["bounded"]),
        node("Softmax", ["bounded"], ["share"], axis=-1),
        node("MatMul", ["share", "v"], ["seen"]),
        node("MatMul", ["seen", "mix"], ["mixed"]),
        node("Add", ["mixed", "x"], ["sum"]),
        node("LayerNormalization", ["sum", "scale", "shift"], ["normal"]),
        node("Unsqueeze", ["mask", "last"], ["wide"]),
        node("Mul", ["normal", "wide"], ["mine"]),
        node("ReduceSum", ["mine", "tokens"], ["total"], keepdims=0),
        node("ReduceSum", ["mask", "tokens"], ["count"], keepdims=1),
        node("Div", ["total", "count"], ["mean"]),
        node("MatMul", ["mean", "head"], ["logits"]),
    ]
    graph = helper.make_graph(
        nodes,
        "classifier",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens_"]) for name in inputs],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["texts", outputs])],
        constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    path.write_bytes(model.SerializeToString())
    return str(path)
