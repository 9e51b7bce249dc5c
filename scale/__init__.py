"""The maths of training at scale: pure functions, a unit in every name, a source in every docstring."""

from scale.budget import chinchilla_tokens, gpu_hours, tokens_per_parameter, training_flops
from scale.checkpoint import daly_checkpoint_interval, optimal_checkpoint_interval, wasted_fraction
from scale.data_parallel import (
    all_reduce_traffic,
    linear_regression_gradient,
    ring_all_reduce,
    zero_traffic_ratio,
)
from scale.memory import activation_bytes, training_memory, zero_memory_per_gpu
from scale.mixture import epochs_per_source
from scale.pipeline import bubble_fraction, bubble_ratio, pipeline_schedule

__all__ = [
    "activation_bytes",
    "all_reduce_traffic",
    "bubble_fraction",
    "bubble_ratio",
    "chinchilla_tokens",
    "daly_checkpoint_interval",
    "epochs_per_source",
    "gpu_hours",
    "linear_regression_gradient",
    "optimal_checkpoint_interval",
    "pipeline_schedule",
    "ring_all_reduce",
    "tokens_per_parameter",
    "training_flops",
    "training_memory",
    "wasted_fraction",
    "zero_memory_per_gpu",
    "zero_traffic_ratio",
]
