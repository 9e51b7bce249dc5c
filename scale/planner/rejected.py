"""Why not this layout: the best of each other way of splitting the work, and what speaks against it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scale.planner.arrays import Flags
from scale.planner.estimate import estimate_step
from scale.planner.layouts import Candidates
from scale.planner.plan_input import PlanInput

GIB = 2.0**30
Columns = NDArray[np.int64]

# Question a reader would ask → which rows (tp, cp, pp, ep, dp, zero, b, v, recompute, schedule) answer it.
ALTERNATIVES: tuple[tuple[str, Callable[[Columns, tuple[int, ...]], Flags]], ...] = (
    ("no tensor parallelism", lambda r, best: (r[0] == 1) & (best[0] > 1)),
    ("more tensor parallelism", lambda r, best: r[0] > best[0]),
    ("no pipeline", lambda r, best: (r[2] == 1) & (best[2] > 1)),
    ("half the pipeline stages", lambda r, best: (r[2] * 2 == best[2]) & (r[2] > 1)),
    ("a pipeline", lambda r, best: (r[2] > 1) & (best[2] == 1)),
    ("no interleaving", lambda r, best: (r[7] == 1) & (best[7] > 1) & (r[2] == best[2])),
    ("no context parallelism", lambda r, best: (r[1] == 1) & (best[1] > 1)),
    ("no expert parallelism", lambda r, best: (r[3] == 1) & (best[3] > 1)),
    ("no recomputation", lambda r, best: (r[8] == 0) & (best[8] > 0)),
    ("full recomputation", lambda r, best: (r[8] == 2) & (best[8] < 2)),
    ("ZeRO-3", lambda r, best: (r[5] == 3) & (best[5] < 3)),
    (
        "plain FSDP (ZeRO-3 alone)",
        lambda r, best: (r[0] * r[1] * r[2] == 1) & (r[5] == 3) & (best[0] * best[1] * best[2] > 1),
    ),
    (
        "twice the micro-batch",
        lambda r, best: (r[6] == 2 * best[6]) & (r[0] == best[0]) & (r[1] == best[1]) & (r[2] == best[2]),
    ),
)


def rejected_layouts(inputs: PlanInput, found: Candidates, best: int) -> list[dict[str, Any]]:
    """For each alternative its fastest layout: memory it lacks, or how much slower it is and why."""
    chosen, answers = found.layouts[best], []
    columns = np.array(found.layouts, dtype=np.int64).T
    for question, belongs in ALTERNATIVES:
        rows = np.flatnonzero(belongs(columns, chosen))
        if not len(rows):
            continue
        fitting = rows[found.fits[rows]]
        pool = fitting if len(fitting) else rows
        index = int(
            pool[np.argmin(found.seconds[pool])] if len(fitting) else pool[np.argmin(found.bytes_per_gpu[pool])]
        )
        answers.append(
            {
                "alternative": question,
                "label": found.layout(index).label(),
                "fits": bool(len(fitting)),
                "reason": _reason(inputs, found, index, best),
            }
        )
    return answers


def _reason(inputs: PlanInput, found: Candidates, index: int, best: int) -> str:
    limit = inputs.cluster.memory_bytes / GIB
    if not found.fits[index]:
        return (
            f"does not fit even at its leanest: {found.bytes_per_gpu[index] / GIB:.1f} GiB on the "
            f"{found.stage_name(index)} stage, {limit:.1f} GiB usable"
        )
    slower = found.seconds[index] / found.seconds[best] - 1
    other, mine = (estimate_step(inputs.model, inputs.cluster, found.layout(i), inputs.train) for i in (index, best))
    differences = {cause: other.causes[cause] - mine.causes[cause] for cause in mine.causes}
    cause = max(differences, key=lambda name: differences[name])
    if slower < 0.0005:
        need = (found.bytes_per_gpu[index] - found.bytes_per_gpu[best]) / GIB
        return f"as fast, {abs(need):.1f} GiB {'more' if need > 0 else 'less'} memory: a matter of taste"
    measured = "" if other.stack == mine.stack else f", by the constants measured on {other.stack} runs"
    return (
        f"{100 * slower:.1f} % slower: {cause.replace('_', ' ')} takes {differences[cause]:.3g} s more "
        f"({other.causes[cause]:.3g} against {mine.causes[cause]:.3g} s per step{measured})"
    )
