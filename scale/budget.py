"""Token and compute budgets: data and GPU-hours that a model wants, and the scaling laws that disagree on it."""

import math
from dataclasses import dataclass

from scale.validation import positive

CHINCHILLA_TOKENS_PER_PARAMETER = 20.0
"""Compute-optimal tokens per parameter (Hoffmann et al. 2022, Table 3, approach 1, rounded)."""

FLOPS_PER_PARAMETER_PER_TOKEN = 6.0
"""2 in the forward pass and 4 in the backward pass (Kaplan et al. 2020, section 2.1)."""

ENGLISH_WORDS_PER_TOKEN = 0.75
"""A rule of thumb for subword tokenizers on English text; code and other languages have fewer words a
token."""

LLAMA_2_7B_TOKENS = 2e12
"""Touvron et al. 2023 (Llama 2), Table 1."""

LLAMA_3_FAMILY_TOKENS = 15e12
"""Grattafiori et al. 2024 (Llama 3), section 1: about 15 trillion tokens for the family."""

LLAMA_3_405B_TOKENS = 15.6e12
"""Grattafiori et al. 2024 (Llama 3), section 1: the 405B model."""

FINEWEB_SNAPSHOTS = 96
"""Common Crawl snapshots in FineWeb (Penedo et al. 2024, abstract)."""

FINEWEB_TOKENS = 15e12
"""Tokens in FineWeb (Penedo et al. 2024, abstract)."""

SECONDS_PER_HOUR = 3600.0


def chinchilla_tokens(params: float, ratio: float = CHINCHILLA_TOKENS_PER_PARAMETER) -> float:
    """Compute-optimal training tokens for `params` parameters: D = 20 N (Hoffmann et al. 2022).

    `ratio` is in tokens per parameter. Raises ValueError unless both are finite and above zero.
    """
    return positive("ratio", ratio) * positive("params", params)


def training_flops(params: float, tokens: float) -> float:
    """Floating-point operations to train on `tokens` tokens: C = 6 N D (Kaplan et al. 2020, section 2.1).

    Attention scores are not in it; that is right to a few percent while the sequence is short beside 6
    times the hidden size. Raises ValueError unless both are finite and above zero.
    """
    return FLOPS_PER_PARAMETER_PER_TOKEN * positive("params", params) * positive("tokens", tokens)


def gpu_hours(flops: float, flops_per_second_per_gpu: float) -> float:
    """GPU-hours for `flops` operations at the rate one GPU really achieves (not its peak).

    Raises ValueError unless both are finite and above zero.
    """
    seconds = positive("flops", flops) / positive("flops_per_second_per_gpu", flops_per_second_per_gpu)
    return seconds / SECONDS_PER_HOUR


def tokens_per_parameter(tokens: float, params: float) -> float:
    """Training tokens per parameter, D / N: 20 is compute-optimal, served models go far past it.

    Raises ValueError unless both are finite and above zero.
    """
    return positive("tokens", tokens) / positive("params", params)


@dataclass(frozen=True)
class Law:
    """Loss in nats per token, L(N, D) = E + A/N^alpha + B/D^beta (Hoffmann et al. 2022 equation 2)."""

    name: str
    floor: float
    a: float
    b: float
    alpha: float
    beta: float

    def loss(self, parameters: float, tokens: float) -> float:
        return float(self.floor + self.a / parameters**self.alpha + self.b / tokens**self.beta)

    def optimum(self, flops: float) -> tuple[float, float]:
        """(parameters, tokens) of least loss for C = 6·N·D FLOPs (Hoffmann et al. 2022 equation 4)."""
        ratio = (self.alpha * self.a / (self.beta * self.b)) ** (1 / (self.alpha + self.beta))
        share = self.beta / (self.alpha + self.beta)
        parameters = ratio * (flops / 6) ** share
        return parameters, flops / (6 * parameters)


HOFFMANN = Law("Hoffmann et al. 2022", 1.6934, 406.4, 410.7, 0.3392, 0.2849)
BESIROGLU = Law("Besiroglu et al. 2024", 1.81686, 482.00572, 2085.4342, 0.34781, 0.36585)
LAWS = (HOFFMANN, BESIROGLU)


@dataclass(frozen=True)
class BudgetAdvice:
    """What three rules make of one compute budget. `ratio` is tokens per parameter."""

    rule: str
    parameters: float
    tokens: float
    loss: float | None

    @property
    def ratio(self) -> float:
        return self.tokens / self.parameters


def advise(flops: float) -> list[BudgetAdvice]:
    """Compute-optimal size and tokens for a budget of FLOPs: 20·N first, the parametric laws beside it."""
    parameters = math.sqrt(flops / (6 * CHINCHILLA_TOKENS_PER_PARAMETER))
    rules = [BudgetAdvice("20 tokens per parameter", parameters, CHINCHILLA_TOKENS_PER_PARAMETER * parameters, None)]
    for law in LAWS:
        size, tokens = law.optimum(flops)
        rules.append(BudgetAdvice(law.name, size, tokens, law.loss(size, tokens)))
    return rules


def disagreement(rules: list[BudgetAdvice]) -> float:
    """Largest over smallest model that the rules advise, a ratio."""
    return max(r.parameters for r in rules) / min(r.parameters for r in rules)
