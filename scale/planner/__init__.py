"""What does it take to train this model on this data on this cluster: `estimate_step`, `search`, `plan`."""

from scale.planner.models.families import model_from_config, read_config
from scale.planner.models.model import Architecture, Attention, Experts, Mla
from scale.planner.models.parameters import count_parameters
from scale.planner.step.estimate import MemoryEstimate, StepEstimate, estimate_memory, estimate_step
from scale.planner.step.hardware import Cluster, Gpu, find_gpu, hardware_table
from scale.planner.step.workload import Layout, Train
from scale.refusal import Refusal

__all__ = [
    "Architecture",
    "Attention",
    "Cluster",
    "Experts",
    "Gpu",
    "Layout",
    "MemoryEstimate",
    "Mla",
    "Refusal",
    "StepEstimate",
    "Train",
    "count_parameters",
    "estimate_memory",
    "estimate_step",
    "find_gpu",
    "hardware_table",
    "model_from_config",
    "read_config",
]
