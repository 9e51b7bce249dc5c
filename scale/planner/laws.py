"""Scaling laws: Chinchilla's rule of 20 tokens a parameter, and the parametric losses that disagree with it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from scale.budget import CHINCHILLA_TOKENS_PER_PARAMETER


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
