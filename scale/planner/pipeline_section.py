"""The pipeline of a plan: a window of its grid, and what other schedules would leave of its bubble."""

from __future__ import annotations

from typing import Any

from scale.pipeline import bubble_fraction, pipeline_schedule, zero_bubble_fraction
from scale.planner.workload import Layout, Train

SHOWN_STAGES, SHOWN_MICRO_BATCHES = 8, 8
ALTERNATIVES = ("ZB1P", "ZBV", "V-Half")


def pipeline_section(layout: Layout, train: Train) -> dict[str, Any] | None:
    """Grid under 1F1B of a pipeline of at most 8 stages and 8 micro-batches, and the bubble (a fraction of the total)
    of the chosen depth by 1F1B and the zero-bubble schedules (Qi et al. 2024); None without a pipeline."""
    if layout.pp == 1:
        return None
    m = layout.micro_batches(train)
    stages, shown = min(layout.pp, SHOWN_STAGES), min(m, SHOWN_MICRO_BATCHES)
    bubbles = {name: zero_bubble_fraction(layout.pp, m, name) for name in ALTERNATIVES}
    return {
        "stages": layout.pp,
        "micro_batches": m,
        "grid_stages": stages,
        "grid_micro_batches": shown,
        "grid": pipeline_schedule(stages, shown, "1f1b").tolist(),
        "bubble_fraction_by_schedule": {"1F1B": bubble_fraction(layout.pp, m), **bubbles},
    }
