"""Checkpoint intervals: the least total of time spent saving and time lost to failures.

All times are in minutes; the formulas hold in any one unit.
"""

import math

from scale.validation import non_negative, positive

LLAMA_3_405B_INTERRUPTIONS = 419
"""Unexpected interruptions of the Llama 3 405B run (Grattafiori et al. 2024, section 3.3.4)."""

LLAMA_3_405B_DAYS = 54.0
"""The length in days of the snapshot in which they were counted (same section)."""

HOURS_PER_DAY = 24.0


def mean_hours_between_failures(failures: float, days: float) -> float:
    """Mean time between failures, in hours, of a run of `days` days. Raises ValueError unless both are
    above zero."""
    return positive("days", days) * HOURS_PER_DAY / positive("failures", failures)


def wasted_fraction(
    interval_minutes: float, save_minutes: float, failure_minutes: float, restart_minutes: float = 0.0
) -> float:
    """Fraction of time wasted: C/T + T/(2M) + R/M (Young 1974, first order; R/M added for the restart).

    T is the interval between checkpoints, C the pause to write one, M the mean time between failures, R the
    time to be back in training after a failure. The first-order form is an overestimate once it nears 1 and
    may exceed 1: then the cluster makes no progress. Raises ValueError unless T and M are above zero and C
    and R not negative.
    """
    interval = positive("interval_minutes", interval_minutes)
    failure = positive("failure_minutes", failure_minutes)
    saving = non_negative("save_minutes", save_minutes) / interval
    lost = interval / (2.0 * failure)
    return saving + lost + non_negative("restart_minutes", restart_minutes) / failure


def optimal_checkpoint_interval(save_minutes: float, failure_minutes: float) -> float:
    """The interval, in minutes, of least waste: T* = sqrt(2 C M) (Young 1974).

    Raises ValueError unless both are finite and above zero.
    """
    return math.sqrt(2.0 * positive("save_minutes", save_minutes) * positive("failure_minutes", failure_minutes))


def daly_checkpoint_interval(save_minutes: float, failure_minutes: float) -> float:
    """The compute time, in minutes, between two saves of least waste (Daly 2006, equation 37).

    sqrt(2CM) [1 + sqrt(C/2M)/3 + (C/2M)/9] - C while C < 2M, and M otherwise. Shorter than Young's
    interval, because failures also strike while a checkpoint is written. Raises ValueError unless both are
    finite and above zero.
    """
    save = positive("save_minutes", save_minutes)
    failure = positive("failure_minutes", failure_minutes)
    if save >= 2.0 * failure:
        return failure
    ratio = save / (2.0 * failure)
    return math.sqrt(2.0 * save * failure) * (1.0 + math.sqrt(ratio) / 3.0 + ratio / 9.0) - save
