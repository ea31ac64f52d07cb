"""`hone traces` over the real traces: what is described and found without judging, and what cannot be."""

import json


def traces(hone, file, python, *options):
    return hone("traces", file, "--set", f"plugins.python={python}", *options)


def test_every_real_turn_has_a_task_and_code(hone, python, traces_file):
    read = traces(hone, traces_file, python, "--read-only", "--json")
    assert read.returncode == 0, read.stderr
    turns = json.loads(read.stdout)
    assert len(turns) == 31
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
    turns = json.loads(judged.stdout)
    assert [turn["recorded"]["correct"] for turn in turns] == [True, False, False, False]
    assert [turn["verdict"]["outcome"] for turn in turns] == ["crashed"] * 4
    assert {turn["verdict"]["signal"] for turn in turns} == {"SIGSEGV"}  # read or write beyond their tensors


def test_a_task_that_cannot_be_described_is_said_at_each_of_its_turns(hone, python, tmp_path):
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
    found = {(turn["trace"], turn["turn"]): turn for turn in json.loads(read.stdout)}
    for turn in (1, 2):
        assert "unfit cannot be made a task: forward() answers with a int" in found["unfit", turn]["why"]
        assert found["unfit", turn]["agrees"] is None
    assert found["fit", 1]["verdict"]["outcome"] == "no_code"
    assert found["fit", 1]["agrees"] is True
    assert found["fit", 2]["code"] == "class ModelNew: pass"
    table = traces(hone, file, python, "--read-only").stdout
    assert "not read" in table  # of what has no task nothing is known, not even that there is no code


def test_mistakes_in_the_file_are_told_with_their_place(hone, tmp_path):
    file = tmp_path / "traces.json"
    file.write_text('[{"sample_key": "a", "turns": [{"turn": 0}]}]')
    read = hone("traces", file)
    assert (read.returncode, read.stdout) == (2, "")
    assert read.stderr.startswith(f"hone: {file}: trace 0/turns/0")
    file.write_text('[{"sample_key": "kernelbook_1", "turns": []}]')
    read = hone("traces", file, "--trace", "kernelbook_2")
    assert read.stderr == f"hone: {file}: unknown trace 'kernelbook_2'; did you mean 'kernelbook_1'?\n"
