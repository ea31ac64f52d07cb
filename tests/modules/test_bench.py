"""hone bench modules, with problems that take milliseconds on the processor."""

import json
from pathlib import Path

import pytest
import run_goldens

HERE = Path(__file__).parent
TRACE, TURN = "kernelbook_242", 2  # a wrapper that is right


def test_figures_are_compared_with_a_plain_harness(hone, python, tmp_path):
    level = tmp_path / "level1"
    level.mkdir()
    (level / "1_Linear.py").write_text((HERE / "linear/reference.py").read_text())
    data = json.dumps({"path": str(tmp_path)})
    given = [f"cpu.python={python}", f"plugins.python={python}"]
    given.append(f"datasets=[{{name: kernelbench, plugin: kernelbench, config: {data}}}]")
    options = [word for one in given for word in ("--set", one)]
    ran = hone("bench", "modules", "--task", "kernelbench/level1/1", "--count", 2, "--json", *options)
    assert ran.returncode in (0, 1), ran.stderr  # 1: a goal that two evaluations missed
    figures = {figure["name"]: figure for figure in json.loads(ran.stdout)}
    assert [name.removeprefix("modules: ") for name in figures] == [
        "evaluations per second",
        "one alone",
        "build",
        "prepare",
        "load",
        "check",
        "measure",
        "a server's first",
        "evaluations per second of the others, every fifth faults",
        "memory of this process after those at once, over before",
    ]
    for name in figures:
        assert figures[name]["value"] >= 0, figures[name]
    for name in ("evaluations per second", "one alone", "a server's first"):
        figure = figures["modules: " + name]
        assert min(figure["value"], figure["baseline"]) > 0, figure
    wrong = tmp_path / "wrong.py"
    wrong.write_text("import torch\n\n\nclass ModelNew(torch.nn.Module):\n    def __init__(self, width):\n")
    with wrong.open("a") as file:
        file.write("        super().__init__()\n\n    def forward(self, x):\n        return x\n")
    ran = hone("bench", "modules", "--task", "kernelbench/level1/1", "--source", wrong, *options)
    assert (ran.returncode, ran.stdout) == (2, ""), ran
    assert "the plain harness does not find the submission correct" in ran.stderr


@pytest.fixture
def mix(kernelbench_data, python, tmp_path, traces):
    """Two goldens, a twin and a turn of a trace with a small input, as options of hone's."""
    run, file = tmp_path / "run", tmp_path / "traces.json"
    run.mkdir()
    run_goldens.write_run(run, [19, 31])
    run_goldens.generation(run, 31, 1).unlink()
    turns = [turn for turn in traces[TRACE]["turns"] if turn["turn"] == TURN]
    code = traces[TRACE]["pytorch_code"]
    assert "torch.rand([4, 4, 4, 4])" in code  # Triton's interpreter runs a program for each element
    small = code.replace("torch.rand([4, 4, 4, 4])", "torch.rand([1, 4, 2, 2])")
    file.write_text(json.dumps([{**traces[TRACE], "pytorch_code": small, "turns": turns}]))
    return ["--run", run, "--level", 1, "--traces", file, *run_goldens.dataset_options(kernelbench_data, python)]


def test_a_mix_is_judged_and_counted(hone, mix):
    ran = hone("bench", "modules", "--count", 5, "--json", *mix)
    assert ran.returncode in (0, 1), ran.stderr  # 1: a goal that a busy machine missed
    figures = {figure["name"].removeprefix("mix: "): figure for figure in json.loads(ran.stdout)}
    stages = ("build", "wait", "prepare", "load", "check", "measure")
    assert [name for name in figures if not name.startswith("attempts")] == [
        "evaluations per second",
        "evaluations per second, correct ones alone",
        "evaluations per second, first pass",
        "latency, p50",
        "latency, p99",
        *(f"{stage} of the correct ones, mean" for stage in stages),
        *(f"{stage} of the others, mean" for stage in stages),
        "memory of this process after the timed passes, over before",
        "timed, over what the mix has",
        "wrong",
        "correct",
        "correct by the plain harness",
    ]
    value = {name: figure["value"] for name, figure in figures.items()}
    for name in list(figures)[:5]:
        assert min(value[name], figures[name]["baseline"]) > 0, figures[name]
    assert {figure["goal"] for figure in figures.values()} == {"ratio >= 1", None}
    assert 0 < value["latency, p50"] <= value["latency, p99"]
    for whose in ("of the correct ones", "of the others"):
        assert min(value[f"build {whose}, mean"], value[f"check {whose}, mean"]) > 0
        assert value[f"measure {whose}, mean"] == 0  # nothing is timed there
    # Five of four in turns: each once, and one of them twice.
    timed = figures["timed, over what the mix has"]
    assert (timed["value"], timed["baseline"]) == (5, 4)
    assert value["correct"] + value["wrong"] == 5
    assert value["wrong"] in (1, 2)
    plain = figures["correct by the plain harness"]
    assert (plain["value"], plain["baseline"]) == (value["correct"], 5)  # it runs wrappers, too


def test_bench_without_a_task_prints_its_usage(hone):
    ran = hone("bench", "modules")
    assert (ran.returncode, ran.stdout) == (2, ""), ran
    assert "modules: found neither a task nor a mix, expected --task" in ran.stderr
    ran = hone("bench", "protocol", "--level", 1)
    assert ran.returncode == 2
    assert "--level: allowed only with modules, not with protocol" in ran.stderr


def test_missing_part_of_a_mix_is_named(hone, mix, tmp_path):
    def refused(*given):
        ran = hone("bench", "modules", *given)
        assert (ran.returncode, ran.stdout) == (2, ""), ran
        return ran.stderr

    said = refused(*mix, "--trace", "kernelbook_243")
    assert "unknown trace 'kernelbook_243'; did you mean 'kernelbook_242'?" in said
    other = tmp_path / "other"
    other.mkdir()
    (other / "level_1_problem_119_sample_0_kernel.py").touch()
    assert "level 1 has no problem 119" in refused(*mix, "--run", other)
    assert "found no generation of level 1" in refused(*mix, "--run", tmp_path)
    assert "--task: cannot be combined with --run or --traces" in refused(*mix, "--task", "kernelbench/level1/19")
