"""The command line: text, JSON, exit statuses, one sentence for what cannot be."""

import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from curate.cli import cli
from scale.budget import BESIROGLU
from scale.cli import main
from scale.commands.group import fitted
from scale.planner.answers.fits import LEAST_POINTS
from scale.planner.step.workload import Layout

ROOT = Path(__file__).parents[2]
PLAN = str(ROOT / "configs" / "plans" / "one-billion.yaml")
LLAMA = {
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
}


def scale(*words: str) -> Result:
    return CliRunner().invoke(main, list(words))


def answer(*words: str) -> Any:
    result = scale(*words, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.output)


def refused(*words: str) -> str:
    result = scale(*words)
    assert result.exit_code == 2
    assert "Traceback" not in result.output
    return result.output.strip()


@pytest.fixture
def llama(tmp_path: Path) -> str:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(LLAMA), encoding="utf-8")
    return str(path)


def commands(group: Any = main, before: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    for name, command in group.commands.items():
        found.append((*before, name))
        if hasattr(command, "commands"):
            found += commands(command, (*before, name))
    return found


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_every_command_has_help_and_stands_in_the_documentation(words: tuple[str, ...]) -> None:
    result = scale(*words, "--help")
    assert result.exit_code == 0 and len(result.output.splitlines()) > 4
    assert f"scale {' '.join(words)}" in (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")


def test_memory_prints_total_params(llama: str) -> None:
    found = answer("memory", llama)
    assert found["total_params"] == 8_030_261_248
    assert found["state_by_recipe"]["adam16"]["total_gb"] == pytest.approx(16 * 8.030261248, rel=1e-5)
    assert set(found["parts"]) >= {"embedding", "attention", "mlp", "head"}


def test_memory_of_a_layout_and_whether_it_fits(llama: str) -> None:
    whole = answer("memory", llama)
    split = answer(
        "memory", llama, "--tp", "4", "--dp", "8", "--zero", "1", "--recompute", "full", "--sequence", "8192"
    )
    assert not whole["fits"] and split["fits"]
    assert whole["worst_gib"] * 2**30 == pytest.approx(whole["worst_gb"] * 1e9, rel=1e-4)
    text = scale("memory", llama).output
    assert "GiB" in text and "GB" in text and "8,030,261,248" in text


def test_help_of_fit_says_which_columns_and_how_many_rows() -> None:
    output = " ".join(scale("fit", "--help").output.split())
    assert f"of at least {LEAST_POINTS} runs" in output and "more runs than sources" in output
    for column in ("N (parameters)", "D (tokens)", "loss (nats per token)"):
        assert column in output


def test_the_letters_of_a_layout_are_explained() -> None:
    text = scale("plan", PLAN).output
    legend = text[text.index("LAYOUTS") : text.index("  1. ")]
    layout = Layout(tp=2, cp=2, pp=2, ep=2, dp=2, interleave=2, schedule="zb1p", recompute="full")
    for word in layout.label().split():
        assert re.search(rf"\b{word if word == 'zb1p' else word.rstrip('0123456789')}\b", legend), word


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("plan", "gone.yaml"), "gone.yaml: cannot be read (no such file); give the path of a plan file"),
        (
            ("plan", PLAN, "--run", "gone"),
            "gone/manifest.json: cannot be read (no such file); --run takes",
        ),
        (("memory", "."), ".: cannot be read (it is a folder); give the path of a config.json"),
        (("fit", "latin.csv"), "latin.csv: cannot be read (is not UTF-8); give a CSV table"),
        (("plan", "latin.csv"), "latin.csv: cannot be read (is not UTF-8); give the path of a plan file"),
    ],
)
def test_a_refusal_begins_with_the_program_and_names_the_file_once(
    words: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("latin.csv").write_bytes(b"loss\n\xe9\n")
    assert refused(*words).startswith(f"scale: {message}")
    mounted = CliRunner().invoke(cli, ["scale", *words], prog_name="curate")
    assert mounted.exit_code == 2 and mounted.output.startswith(f"curate: {message}")


def test_plan_as_text_and_json() -> None:
    text = scale("plan", PLAN).output
    plan = answer("plan", PLAN)
    assert plan["schema"] == "scale-plan/1" and plan["layouts"][0]["label"] in text
    assert set(plan) == {
        "schema",
        "name",
        "inputs",
        "model",
        "searched",
        "layouts",
        "rejected",
        "pipeline",
        "checkpoint",
        "data",
        "levers",
        "warnings",
    }


def test_plan_explains_and_shows_as_many_layouts_as_asked() -> None:
    plan = answer("plan", PLAN, "--explain", "--top", "5")
    assert len(plan["layouts"]) == 5 and "MFU" in plan["explanations"]
    assert "EXPLAINED" in scale("plan", PLAN, "--explain").output


def test_plan_takes_the_tokens_of_a_curation_run(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text('{"tokens_by_source": {"web": 12358144000}}', encoding="utf-8")
    plan = answer("plan", PLAN, "--run", str(tmp_path))
    assert plan["data"]["sources"]["web"]["epochs"] == pytest.approx(2, rel=1e-3)
    assert "manifest.json" in refused("plan", PLAN, "--run", str(tmp_path / "none"))


def test_plan_draws_or_says_how_to(tmp_path: Path) -> None:
    picture = tmp_path / "plan.png"
    result = scale("plan", PLAN, "--plot", str(picture))
    if importlib.util.find_spec("matplotlib"):
        assert result.exit_code == 0 and picture.read_bytes().startswith(b"\x89PNG")
        assert [path.name for path in tmp_path.iterdir()] == ["plan.png"]
        assert "picture format" in refused("plan", PLAN, "--plot", str(tmp_path / "plan.doc"))
        assert "cannot be written" in refused("plan", PLAN, "--plot", str(tmp_path / "no" / "plan.png"))
    else:
        assert result.exit_code == 2 and "pip install" in result.output


def test_budget_of_the_seed() -> None:
    found = answer("budget", "--params", "7B", "--tflops-per-gpu", "400")
    assert found["tokens"] == 140e9 and found["training_flops_6nd"] == 5.88e21
    assert round(found["gpu_hours"]) == 4083
    assert "20 tokens per parameter" in scale("budget", "--flops", "1e24").output
    assert "two of the three" in refused("budget", "--params", "7B", "--tokens", "1T", "--flops", "1e20")
    assert "budget" in refused("budget")


def test_checkpoint_of_the_seed() -> None:
    found = answer("checkpoint", "--save-minutes", "1", "--failure-minutes", "180", "--interval-minutes", "19")
    assert found["young_minutes"] == pytest.approx(18.97, abs=0.01)
    assert found["waste_fraction_at_young"] == pytest.approx(0.105, abs=0.0005)
    assert found["waste_fraction_at_interval"] == pytest.approx(0.105, abs=0.0005)
    assert "above zero" in refused("checkpoint", "--save-minutes", "0", "--failure-minutes", "180")


def test_precision_rounds_values_by_the_overflow_policy() -> None:
    found = answer("precision", "1e-8", "465")
    assert found["values"]["1e-08"]["FP16"] == 0 and found["values"]["465.0"]["FP8_E4M3"] == "nan"
    assert answer("precision", "465", "--overflow", "saturate")["values"]["465.0"]["FP8_E4M3"] == 448
    assert "nan in FP8_E4M3" in scale("precision", "465").output


def test_the_grid_of_four_stages_and_eight_micro_batches() -> None:
    result = scale("show", "schedule", "--stages", "4", "--micro", "8")
    lines = result.output.splitlines()
    assert result.exit_code == 0 and len(lines) == 5
    assert all(line.count("·") == 6 for line in lines[:4])
    assert "0.273 of the total (fraction), 0.375 of the ideal time (ratio)" in lines[4]
    assert len(answer("show", "schedule", "--stages", "4", "--micro", "8")["grid"][0]) == 22
    assert "at least 1" in refused("show", "schedule", "--stages", "0", "--micro", "8")


def test_fit_tells_laws_from_mixtures(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    points = tmp_path / "points.csv"
    pairs = zip(10 ** rng.uniform(8, 10, 20), 10 ** rng.uniform(9, 11, 20))
    points.write_text("N,D,loss\n" + "".join(f"{n},{d},{BESIROGLU.loss(n, d)}\n" for n, d in pairs), encoding="utf-8")
    law = answer("fit", str(points))
    assert law["kind"] == "law" and law["constants"]["alpha"] == pytest.approx(0.34781, rel=1e-3)
    mixtures = tmp_path / "mixtures.csv"
    rows = [(a, 1 - a, 2.5 * a + 3 * (1 - a)) for a in (0.1, 0.3, 0.5, 0.7, 0.9)]
    mixtures.write_text("web,code,loss\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows), encoding="utf-8")
    found = answer("fit", str(mixtures))
    assert found["kind"] == "mixture" and found["effects"]["web"][0] == pytest.approx(2.5)
    assert found["best"]["web"] == pytest.approx(0.9)
    assert "95 %" in scale("fit", str(points)).output and "alone" in scale("fit", str(mixtures)).output


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n1,2\n", "no column `loss`"),
        ("a,b,loss\n0.5,0.5\n", "row 1 has fewer values"),
        ("", "no column `loss`"),
        ("a,b,loss\n0.5,x,2\n", "'x' is no number"),
    ],
)
def test_tables_that_cannot_be_fitted_are_refused(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(content, encoding="utf-8")
    assert message in refused("fit", str(path))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("plan", "nowhere.yaml"), "nowhere.yaml: cannot be read"),
        (("memory", "nowhere.json"), "cannot be read"),
        (("budget", "--params", "many"), "'many' is no number"),
    ],
)
def test_refusals_are_one_sentence_with_the_place(words: tuple[str, ...], message: str) -> None:
    assert message in refused(*words)


def test_an_impossible_layout_is_refused(llama: str) -> None:
    assert "32 heads do not divide by tp 3" in refused("memory", llama, "--tp", "3", "--dp", "8")
    assert "hardware table" in refused("memory", llama, "--gpu", "Z9")


def test_precision_gives_every_digit_and_tells_infinity_from_nan() -> None:
    found = answer("precision", "0.1", "1e9", "-inf", "nan")
    assert found["values"]["0.1"]["FP32"] == float(np.float32(0.1)) and found["formats"]["FP32"]["eps"] == 2.0**-23
    assert found["values"]["1000000000.0"]["FP16"] == "inf" and found["values"]["1000000000.0"]["FP8_E4M3"] == "nan"
    assert found["values"]["-inf"]["BF16"] == "-inf" and found["values"]["nan"]["FP16"] == "nan"


def test_memory_needs_no_full_nodes(llama: str) -> None:
    assert answer("memory", llama, "--tp", "4", "--pp", "3")["layout"]["pp"] == 3


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("budget", "--params", "0"), "--params 0.0 is not above zero"),
        (("budget", "--params", "7B", "--flops", "0"), "--flops 0.0 is not above zero"),
        (("budget", "--params", "7B", "--price", "-2"), "--price -2 is below zero"),
        (("checkpoint", "--save-minutes", "1", "--failure-minutes", "180", "--interval-minutes", "0"), "above zero"),
        (("show", "schedule", "--stages", "1000", "--micro", "1000000"), "beyond 1,000,000; ask for a smaller one"),
    ],
)
def test_an_option_that_cannot_be_is_not_passed_over(words: tuple[str, ...], message: str) -> None:
    assert message in refused(*words)


def test_a_waste_of_all_the_time_is_told_as_such() -> None:
    text = scale("checkpoint", "--save-minutes", "500", "--failure-minutes", "10", "--interval-minutes", "5").output
    assert "no progress at Young's interval" in text and "no progress at 5 min" in text and "%" not in text


def test_what_is_small_is_not_printed_as_zero(tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text(
        "model: {layers: 4, hidden: 256, heads: 4, vocab: 32000}\ncluster: {gpu: H100, gpus: 8}\n"
        "train: {tokens: 1M, sequence: 1024, global_batch: 8}\ndata: {sources: {web: {tokens: 20K}}}\n"
    )
    text = scale("plan", str(plan)).output
    assert "0.00 days" not in text and " 0 GPU-hours" not in text and "$0 " not in text and " 0 GB" not in text
    assert "seconds with failures" in text and "ms by cause" in text and " 1 micro-batch, bubble" in text
    assert "80K training tokens would stay within 4" in text
    assert "$9.99" in scale("budget", "--params", "7B", "--tokens", "140M", "--price", "2.4462").output


def test_sentences_fit_a_terminal_and_a_pipe_gets_them_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    sentence = "  of 12 GPUs " + "one more word " * 10 + "and the end\n"
    grid = "stage 0" + "   1" * 30 + "\n"
    assert fitted(sentence + grid) == sentence + grid
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")
    lines = fitted(sentence + grid).split("\n")
    assert all(len(line) <= 60 for line in lines[:-2]) and len(lines) == 5
    assert lines[-2] == grid.rstrip("\n") and lines[1].startswith("    ")
    assert " ".join(" ".join(lines[:-2]).split()) == sentence.strip()
