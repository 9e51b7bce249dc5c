"""Layers that mix tokens by something else than plain attention, and the text models of multimodal configs."""

from typing import Any

import pytest

from scale.planner import Refusal, Train, count_parameters, model_from_config
from scale.planner.models.flops import token_flops
from scale.planner.step.arrays import Shape

MAMBA2 = {"model_type": "mamba2", "hidden_size": 64, "num_hidden_layers": 2, "num_heads": 4, "vocab_size": 100}
LFM2 = {
    "model_type": "lfm2",
    "hidden_size": 64,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 384,
    "block_multiple_of": 16,
    "vocab_size": 100,
    "layer_types": ["conv", "full_attention", "conv", "conv"],
}
GEMMA3 = {"hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 34}


def test_a_state_space_model_has_no_attention_and_no_mlp() -> None:
    model = model_from_config({**MAMBA2, "state_size": 8, "n_groups": 1})
    counts = count_parameters(model)
    assert counts.mlp == 0 and model.attending_layers == 0
    flops = token_flops(model, 1 << 20)
    assert flops.full_attention == flops.causal_attention  # no part of it grows with the sequence
    # in: 64 → 128 + (128 + 16) + 4; convolution of 144 by 4 with bias; dt, A, D of 4 heads; norm of 128; out: 128 → 64.
    assert counts.attention == 2 * (64 * 276 + 144 * 4 + 144 + 12 + 128 + 128 * 64)


def test_a_third_of_the_layers_attend() -> None:
    model = model_from_config(LFM2)
    assert (model.attention_layers, model.attending_layers) == (1, 1)
    assert model.mixer is not None and model.mixer.layers == (0, 2, 3)
    assert model.ffn == 256  # two thirds of 384
    shape = Shape.of(model, Train(1024, 1))
    assert float(shape.query) == 64 / 4 and float(shape.mixer) == 3 / 4 * 4 * 64


def test_a_list_of_layer_types_of_another_length_is_refused() -> None:
    with pytest.raises(Refusal, match="list of 4 names"):
        model_from_config({**LFM2, "layer_types": ["conv"]})


def test_the_text_model_of_a_multimodal_config_is_planned() -> None:
    model = model_from_config({"model_type": "gemma3", "text_config": GEMMA3}, "gemma-3-4b")
    # The class leaves out what is as in its defaults: a vocabulary of 262,208, 8 heads of 256, 4 of them with keys.
    assert count_parameters(model).total == 3880263168
    assert any("text model alone" in note for note in model.notes)


def test_a_text_config_on_its_own_may_leave_out_its_vocabulary() -> None:
    assert model_from_config({"model_type": "gemma3_text", **GEMMA3}).vocab == 262208


@pytest.mark.parametrize("text", [{}, {"model_type": "no such family", "hidden_size": 64}])
def test_a_text_config_without_sizes_is_refused(text: dict[str, Any]) -> None:
    with pytest.raises(Refusal, match="text_config"):
        model_from_config({"model_type": "some-vision-model", "text_config": text})


def test_gemma3n_with_layers_of_other_widths_is_refused() -> None:
    config = {"model_type": "gemma3n_text", "hidden_size": 64, "num_hidden_layers": 2, "intermediate_size": [8, 16]}
    with pytest.raises(Refusal, match="differs between layers"):
        model_from_config(config)


def test_sparse_attention_is_counted_against_the_chosen_tokens() -> None:
    sizes = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4}
    config = {"model_type": "deepseek_v32", **sizes, "vocab_size": 100, "first_k_dense_replace": 2, "index_topk": 512}
    model = model_from_config(config)
    short, long = (token_flops(model, length).full_attention for length in (512, 1 << 20))
    assert short == long
