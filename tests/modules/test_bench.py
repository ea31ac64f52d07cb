"""hone bench modules, on a problem that the processor does in milliseconds."""

import json
from pathlib import Path

HERE = Path(__file__).parent


def test_figures_stand_beside_a_plain_harness(hone, python, tmp_path):
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
    assert (ran.returncode, ran.stdout) == (3, ""), ran
    assert "the plain harness does not find the submission correct" in ran.stderr
