"""Exact parameters by family: totals counted by instantiating the published configs, and refusals."""

import json
from pathlib import Path
from typing import Any

import pytest

from scale.planner import Refusal, count_parameters, model_from_config, read_config
from scale.planner.models.families import FAMILIES
from scale.planner.models.model import Architecture, Attention
from scale.planner.models.shape import model_from_shape

BENCH = Path(__file__).parents[4] / "bench" / "scale_data"
CONFIGS: list[dict[str, Any]] = json.loads((BENCH / "model_configs.json").read_text(encoding="utf-8"))

DEEPSEEK_V3 = {
    "model_type": "deepseek_v3",
    "hidden_size": 7168,
    "intermediate_size": 18432,
    "moe_intermediate_size": 2048,
    "num_hidden_layers": 61,
    "num_attention_heads": 128,
    "num_key_value_heads": 128,
    "vocab_size": 129280,
    "n_routed_experts": 256,
    "num_experts_per_tok": 8,
    "n_shared_experts": 1,
    "first_k_dense_replace": 3,
    "q_lora_rank": 1536,
    "kv_lora_rank": 512,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
    "num_nextn_predict_layers": 1,
}

# Small configs instantiated in transformers 5.24.0; each covers switches that no published total does.
WIDTH = {"num_hidden_layers": 2, "hidden_size": 96, "num_attention_heads": 4, "vocab_size": 500}
GQA = {**WIDTH, "num_key_value_heads": 2, "intermediate_size": 160}
OLD = {"n_layer": 2, "n_embd": 96, "n_head": 4, "vocab_size": 500}
SMALL: list[tuple[str, dict[str, Any], int]] = [
    ("gptj", {**OLD, "n_positions": 64}, 319220),
    (
        "gpt_neo",
        {
            "num_layers": 2,
            "hidden_size": 96,
            "num_heads": 4,
            "intermediate_size": 160,
            "vocab_size": 500,
            "max_position_embeddings": 2048,
        },
        381440,
    ),
    ("gpt_bigcode", {**OLD, "n_positions": 1024}, 342240),
    ("falcon", WIDTH, 242112),
    ("phi", GQA, 214900),
    ("phimoe", GQA, 1629888),
    ("olmo", GQA, 243456),
    ("olmo2", GQA, 244224),
    ("olmoe", GQA, 6062592),
    ("gemma2", GQA, 730848),
    ("gemma3_text", GQA, 731872),
    ("qwen3", GQA, 484064),
    ("deepseek_v2", {**GQA, "num_key_value_heads": 4}, 57513056),
    ("cohere", GQA, 195744),
    ("starcoder2", GQA, 166784),
    ("nemotron", GQA, 213696),
    ("apertus", GQA, 213316),
    ("exaone4", GQA, 244032),
    ("minimax_m2", GQA, 24035040),
    ("nemotron", {**GQA, "tie_word_embeddings": True}, 213696 - 500 * 96),
]


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: str(config["model"]))
def test_published_configs_are_counted_exactly(config: dict[str, Any]) -> None:
    assert count_parameters(model_from_config(config)).total == config["total_params"]


@pytest.mark.parametrize(("family", "config", "total"), SMALL)
def test_small_configs_are_counted_exactly(family: str, config: dict[str, Any], total: int) -> None:
    assert count_parameters(model_from_config({"model_type": family, **config})).total == total


def test_deepseek_v3_leaves_out_buffers_and_the_prediction_layer() -> None:
    model = model_from_config(DEEPSEEK_V3)
    counts = count_parameters(model)
    assert counts.total == 671_026_404_352
    assert 37.0e9 < counts.active < 38.0e9
    assert model.notes and "multi-token" in model.notes[0]


def test_active_parameters_of_a_mixture_are_those_a_token_meets() -> None:
    model = model_from_config(next(c for c in CONFIGS if c["model"] == "mixtral-8x7b"))
    counts = count_parameters(model)
    one_expert = 3 * 4096 * 14336
    assert counts.total - counts.active == 32 * 6 * one_expert


def test_tied_embeddings_are_counted_once() -> None:
    config = {
        "model_type": "llama",
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "vocab_size": 100,
    }
    untied = count_parameters(model_from_config({**config, "tie_word_embeddings": False})).total
    assert untied - count_parameters(model_from_config({**config, "tie_word_embeddings": True})).total == 6400


def test_an_unknown_family_is_refused_with_the_known_ones() -> None:
    with pytest.raises(Refusal, match=r"mamba.*known:.*llama"):
        model_from_config({"model_type": "mamba", "hidden_size": 8})
    with pytest.raises(Refusal, match="text_config"):
        model_from_config({"model_type": "gemma3", "text_config": {}})
    with pytest.raises(Refusal, match="no model_type"):
        model_from_config({"hidden_size": 8})


@pytest.mark.parametrize("kind", sorted(FAMILIES))
def test_a_missing_size_is_named(kind: str) -> None:
    with pytest.raises(Refusal, match=kind):
        model_from_config({"model_type": kind})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"num_hidden_layers": 10**12}, "beyond 10000"),
        ({"num_key_value_heads": "x"}, "num_key_value_heads is 'x'"),
        ({"num_key_value_heads": 3}, "key/value heads"),
        ({"head_dim": 1.5}, "head_dim is 1.5"),
        ({"hidden_size": True}, "hidden_size"),
        ({"model_type": ["llama"]}, "not a family"),
    ],
)
def test_impossible_sizes_of_a_config_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(Refusal, match=message):
        model_from_config({"model_type": "llama", **GQA, **change})


def test_a_file_that_is_no_config_is_refused(tmp_path: Path) -> None:
    broken = tmp_path / "config.json"
    broken.write_text("{", encoding="utf-8")
    with pytest.raises(Refusal, match="is not JSON"):
        read_config(broken)
    with pytest.raises(Refusal, match="cannot be read"):
        read_config(tmp_path / "none.json")


def test_a_shape_with_latent_attention_and_experts_counts_as_its_config() -> None:
    shape = {
        "layers": 61,
        "hidden": 7168,
        "heads": 128,
        "ffn": 18432,
        "vocab": 129280,
        "experts": 256,
        "top_k": 8,
        "shared": 1,
        "moe_ffn": 2048,
        "dense_first": 3,
        "mla": {
            "kv_lora_rank": 512,
            "q_lora_rank": 1536,
            "qk_nope_head_dim": 128,
            "qk_rope_head_dim": 64,
            "v_head_dim": 128,
        },
    }
    assert count_parameters(model_from_shape(shape)).total == 671_026_404_352


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"hiden": 4}, "hiden"),
        ({"layers": 0}, "layers"),
        ({"kv_heads": 3}, "key/value heads"),
        ({"top_k": 2}, "experts"),
        ({"experts": 4, "top_k": 5}, "top_k"),
        ({"norm": "batch"}, "norm"),
        ({"mla": {"kv_lora_rank": 4}}, "mla"),
        ({"layers": 2.5}, "layers"),
        ({"experts": 4, "dense_first": 9}, "dense_first"),
    ],
)
def test_an_impossible_shape_is_refused_by_its_key(change: dict[str, Any], word: str) -> None:
    with pytest.raises(Refusal, match=word):
        model_from_shape({"layers": 2, "hidden": 64, "heads": 4, "vocab": 100, **change})


def test_embedding_share_is_of_embedding_and_head() -> None:
    model = Architecture("tiny", 1, 8, 1000, Attention(1, 1, 8), 16)
    counts = count_parameters(model)
    assert counts.embedding_share == pytest.approx(16000 / counts.total)
