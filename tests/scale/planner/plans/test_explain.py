"""What is derived and told beside the numbers of a plan: the explanations, and which interval a waste is of."""

from typing import Any

import pytest

from scale.planner.plans.explain import explanations
from scale.planner.plans.plan import make_plan
from scale.planner.plans.plan_input import parse_plan
from scale.planner.plans.text import plan_text
from scale.units import figure

MODEL = {"layers": 16, "hidden": 2048, "heads": 16, "kv_heads": 4, "ffn": 8192, "vocab": 32000}


def config(**changes: Any) -> dict[str, Any]:
    train = {"tokens": "20B", "sequence": 4096, "global_batch": 64}
    return {"model": MODEL, "train": train, "cluster": {"gpu": "H100", "gpus": 16}, **changes}


def test_logits_are_explained_by_the_loss_that_is_planned() -> None:
    train = {"tokens": "20B", "sequence": 4096, "global_batch": 64, "loss": "fused"}
    assert "× 2 bytes" in explanations(make_plan(parse_plan(config(train=train))))["memory: logits"]


def test_the_waste_names_the_interval_that_it_is_of() -> None:
    chosen = make_plan(parse_plan(config(checkpoint={"interval_minutes": 90})))
    made = chosen["checkpoint"]
    assert made["interval_minutes"] == 90 != made["young_minutes"]
    assert made["losing"] == pytest.approx(90 / 2 / made["mean_minutes_between_failures"], rel=1e-4)
    assert "of wall-clock time saving every 90 min:" in plan_text(chosen)
    youngs = make_plan(parse_plan(config()))
    assert youngs["checkpoint"]["interval_minutes"] == youngs["checkpoint"]["young_minutes"]
    assert "of wall-clock time: saving" in plan_text(youngs)


def test_each_explained_number_is_the_printed_one() -> None:
    plan = make_plan(parse_plan(config(limits={"pp": 2, "tp": 1}, data={"sources": {"web": {"tokens": "1B"}}})))
    lines, best, made = explanations(plan), plan["layouts"][0], plan["checkpoint"]
    for name, value in {
        "MFU": f"= {100 * best['mfu_full_attention']:.1f} %",
        "HFU": f"= {100 * best['hfu_full_attention']:.1f} %",
        "bubble": f"{best['bubble']['ratio_to_ideal']:.4g} and {best['bubble']['fraction_of_total']:.4g}",
        "memory: total": f"= {best['memory']['worst_gib']['value']:.4g} GiB",
        "GPU-hours": f"= {figure(best['gpu_hours']['value'])}",
        "cost": "= $",
        "energy": f"= {best['energy_mwh']:.4g} MWh",
        "checkpoint bytes": f"= {made['gb']:.4g} GB",
        "write seconds": f"= {60 * made['write_minutes']:.4g} s",
        "interval": f"= {made['daly_minutes']:.4g} min",
        "waste": f"= {made['waste']:.4g}",
        "dropped replica": f"= {made['drop_replica_waste']:.4g}",
        "model for this data": "= 50M",
    }.items():
        assert value in lines[name], name
    flops, gpus = plan["model"]["flops_per_token"]["full_attention"], plan["inputs"]["cluster"]["gpus"]
    assert best["mfu_full_attention"] == pytest.approx(best["tokens_per_second"] * flops / gpus / 989e12, rel=1e-4)
