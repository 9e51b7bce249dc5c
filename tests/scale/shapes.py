"""Model shapes that several planner tests use."""

from scale.planner import Architecture, Attention


def gpt(hidden: int, layers: int, heads: int, vocab: int = 51200, positions: int = 2048) -> Architecture:
    """A GPT-2-style model as Megatron-LM trains it: biases, LayerNorm, tied embeddings, MLP of 4h."""
    return Architecture(
        "gpt",
        layers,
        hidden,
        vocab,
        Attention(heads, heads, hidden // heads, qkv_bias=True, out_bias=True),
        4 * hidden,
        gated=False,
        mlp_bias=True,
        norm="layer",
        tied=True,
        positions=positions,
    )
