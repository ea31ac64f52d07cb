"""`hone traces` with the real traces: what can be described without judging, and errors."""

import json


def read_lines(text):
    """The turns and the summary of --json."""
    lines = [json.loads(line) for line in text.splitlines()]
    assert [line["type"] for line in lines] == ["result"] * (len(lines) - 1) + ["summary"]
    return lines[:-1], lines[-1]


def traces(hone, file, python, *options):
    return hone("traces", file, "--set", f"plugins.python={python}", *options)


def test_every_real_turn_has_a_task_and_code(hone, python, traces_file):
    read = traces(hone, traces_file, python, "--read-only", "--json")
    assert read.returncode == 0, read.stderr
    turns, summary = read_lines(read.stdout)
    assert len(turns) == summary["turns"] == 31
    assert summary["broken"] == []
    assert sum(turn["recorded"]["correct"] for turn in turns) == 16
    assert all("def triton_kernel_wrapper" in turn["code"] for turn in turns)
    assert {turn["why"] for turn in turns} == {""}
    table = traces(hone, traces_file, python, "--read-only", "--trace", "kernelbook_632").stdout.splitlines()
    assert len(table) == 1 + 4
    assert table[1].split()[:3] == ["kernelbook_632", "1", "CompilationError"]


def test_the_turns_that_no_interpreter_ends_are_judged_in_a_small_size(hone, python, traces_file, tmp_path):
    """The first starts 67 million programs and was recorded as correct: the answers of the module were all 0."""
    trace = next(one for one in json.loads(traces_file.read_text()) if one["sample_key"] == "kernelbench_9")
    for before, after in (("batch_size = 1024", "batch_size = 64"), ("features = 8192", "features = 64")):
        assert before in trace["pytorch_code"]
        trace["pytorch_code"] = trace["pytorch_code"].replace(before, after)
    file = tmp_path / "small.json"
    file.write_text(json.dumps([trace]))
    judged = traces(hone, file, python, "--set", f"cpu.python={python}", "--json")
    assert judged.returncode == 1, judged.stderr
    turns, summary = read_lines(judged.stdout)
    assert (summary["differ"], summary["agree"], summary["other"]) == (1, 3, 4)
    turns.sort(key=lambda turn: turn["turn"])  # they come as they are judged
    assert [turn["recorded"]["correct"] for turn in turns] == [True, False, False, False]
    assert [turn["verdict"]["outcome"] for turn in turns] == ["crashed"] * 4
    assert {turn["verdict"]["signal"] for turn in turns} == {"SIGSEGV"}  # read or write beyond their tensors


def test_task_without_a_description_is_reported_at_each_turn(hone, python, tmp_path):
    module = "import torch\nclass A(torch.nn.Module):\n    def forward(self, x):\n        return 1\n"
    inputs = "def get_inputs():\n    return [torch.rand(2)]\n"
    turns = [
        {"turn": 1, "full_completion": "I do not know.", "result": {"correctness": False, "error": None}},
        {"turn": 2, "triton_code": "class ModelNew: pass", "result": {"correctness": True, "speedup": 2}},
    ]
    fine = module.replace("return 1", "return x") + inputs
    rows = [
        {"sample_key": "unfit", "pytorch_code": module + inputs, "turns": turns},
        {"sample_key": "fit", "pytorch_code": fine, "turns": turns},
    ]
    file = tmp_path / "traces.json"
    file.write_text(json.dumps(rows))
    read = traces(hone, file, python, "--read-only", "--json")
    assert read.returncode == 1, read.stderr
    found = {(turn["trace"], turn["turn"]): turn for turn in read_lines(read.stdout)[0]}
    for turn in (1, 2):
        assert "unfit cannot be made a task: forward() answers with a int" in found["unfit", turn]["why"]
        assert found["unfit", turn]["agrees"] is None
    assert found["fit", 1]["verdict"]["outcome"] == "no_code"
    assert found["fit", 1]["agrees"] is True
    assert found["fit", 2]["code"] == "class ModelNew: pass"
    table = traces(hone, file, python, "--read-only").stdout
    assert "not read" in table  # of what has no task nothing is known, not even that there is no code


def test_task_left_out_at_reading_has_a_reason(hone, tmp_path):
    """No torch is needed: none of them is described."""
    turn = {"turn": 1, "triton_code": "class ModelNew: pass", "result": {"correctness": False, "error": None}}
    inputs = "def get_inputs():\n    return []\n"
    reasons = {
        "no_inputs": ("class A: pass\n", "it has no get_inputs()"),
        "no_class": (inputs, "it defines no class"),
        "nul": (f"class A: pass\n{inputs}# \0", "it holds a NUL"),
        "long": (f"class A: pass\n{inputs}" + "#" * (256 << 10), "its source is longer than 256 KB"),
    }
    rows = [{"sample_key": key, "pytorch_code": source, "turns": [turn]} for key, (source, _) in reasons.items()]
    file = tmp_path / "traces.json"
    file.write_text(json.dumps(rows))
    read = hone("traces", file, "--read-only", "--json")
    turns, _ = read_lines(read.stdout)
    found = {turn["trace"]: turn["why"] for turn in turns}
    for key, (_, why) in reasons.items():
        assert f"{key} cannot be made a task: {why}" in found[key]
    assert "describe lists them" not in read.stdout + read.stderr


def test_mistakes_in_the_file_are_reported_with_their_place(hone, tmp_path):
    file = tmp_path / "traces.json"
    file.write_text('[{"sample_key": "a", "turns": [{"turn": 0}]}]')
    read = hone("traces", file)
    assert (read.returncode, read.stdout) == (2, "")
    assert read.stderr == f"hone: {file}: row 1: turns/0: turn: found 0, expected 1 to 1048576\n"
    file.write_text('[{"sample_key": "kernelbook_1", "turns": []}]')
    read = hone("traces", file, "--trace", "kernelbook_2")
    assert read.stderr == f"hone: {file}: unknown trace 'kernelbook_2'; did you mean 'kernelbook_1'?\n"


MODULE = """import torch
class A(torch.nn.Module):
    def forward(self, x):
        return x + 1
def get_inputs():
    return [torch.rand(2)]
"""
RIGHT = "import torch\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return x + 1\n"


def result(correct):
    return {"correctness": correct, "speedup": 1.5 if correct else 0.0, "error": None}


SINGLE_TURNS = [
    {"sample_key": "one", "pytorch_code": MODULE, "triton_code": RIGHT, "result": result(True)},
    {"sample_key": "one", "pytorch_code": MODULE, "triton_code": RIGHT.replace("1", "2"), "result": result(True)},
    {"sample_key": "one", "error": "Triton extraction failed", "full_completion": "I do not know."},
    {"sample_key": "two", "pytorch_code": MODULE, "triton_code": None, "result": result(False)},
    {"sample_key": "three", "triton_code": RIGHT, "result": result(True)},
    {"sample_key": "four", "pytorch_code": MODULE, "triton_code": RIGHT},
]


def test_single_turn_rows_are_judged_among_failed_and_broken_rows(hone, python, tmp_path):
    file = tmp_path / "single.json"
    file.write_text(json.dumps(SINGLE_TURNS))
    judged = traces(hone, file, python, "--set", f"cpu.python={python}", "--json")
    assert judged.returncode == 2, judged.stderr
    turns, summary = read_lines(judged.stdout)
    found = {(turn["trace"], turn["sample"]): turn for turn in turns}
    outcomes = {key: turn["verdict"] and turn["verdict"]["outcome"] for key, turn in found.items()}
    not_generated = {("one", 2): None, ("two", 0): None}
    assert outcomes == {("one", 0): "correct", ("one", 1): "wrong", ("four", 0): "correct", **not_generated}
    assert {key for key, turn in found.items() if not turn["generated"]} == not_generated.keys()
    assert found["one", 2]["why"] == "recorded: Triton extraction failed"
    assert (found["one", 0]["agrees"], found["one", 1]["agrees"], found["four", 0]["agrees"]) == (True, False, None)
    expected = {"turns": 5, "agree": 1, "differ": 1, "not_recorded": 1, "not_generated": 2, "not_judged": 0}
    assert {key: summary[key] for key in expected} == expected
    assert summary["broken"] == [
        {"trace": "three", "error": "row 5: pytorch_code: found nothing, expected the source of the task's module"}
    ]


def test_named_trace_is_read_among_failed_and_broken_traces(hone, python, tmp_path):
    file = tmp_path / "single.jsonl"
    file.write_text("\n".join(map(json.dumps, SINGLE_TURNS)) + "\nno JSON\n")
    read = traces(hone, file, python, "--read-only", "--trace", "four", "--json")
    assert read.returncode == 0, read.stderr
    (turn,), summary = read_lines(read.stdout)
    assert turn["code"] == RIGHT
    assert summary["broken"] == []
    table = traces(hone, file, python, "--read-only").stdout
    assert [line.split()[:2] for line in table.splitlines()[1:4]] == [["one", "1"], ["one/1", "1"], ["one/2", "1"]]
    assert "not generated" in table
    assert "three, line 5: pytorch_code: found nothing" in table
    assert "line 7: json: " in table


def test_json_lines_may_have_any_name(hone, python, tmp_path):
    file = tmp_path / "traces.json"
    file.write_text(json.dumps(SINGLE_TURNS[0]))
    read = traces(hone, file, python, "--read-only")
    assert read.returncode == 0, read.stderr


def test_a_task_that_cannot_be_described_does_not_stop_the_others(hone, python, tmp_path):
    unfit = {**SINGLE_TURNS[0], "sample_key": "unfit", "pytorch_code": MODULE.replace("x + 1", "1")}
    file = tmp_path / "traces.json"
    file.write_text(json.dumps([unfit, SINGLE_TURNS[0]]))
    judged = traces(hone, file, python, "--set", f"cpu.python={python}")
    assert judged.returncode == 3, judged.stderr
    lines = [line.split() for line in judged.stdout.splitlines()]
    assert ["unfit", "1", "correct", "1.50\u00d7", "not", "judged"] in [line[:6] for line in lines]
    assert lines[-1] == ["2", "1", "0", "0", "0", "1", "1", "0", "0"]
