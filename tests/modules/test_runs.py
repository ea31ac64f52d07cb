"""KernelBench runs: judged, continued, analysed and generated, with KernelBench's files and arguments."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import run_goldens

from conftest import SECONDS_MAX, without_slowness

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "clients"))
from chat_stub import ChatStub, Reply


@pytest.fixture
def configured(python, kernelbench_data):
    return run_goldens.dataset_options(kernelbench_data, python)


def generation(folder, problem, sample=0):
    return folder / f"level_1_problem_{problem}_sample_{sample}_kernel.py"


def write_run(folder):
    """Right, wrong, and one that is no Python; a generation of another level is passed over."""
    folder.mkdir(parents=True)
    shutil.copy(run_goldens.golden_file(19), generation(folder, 19))
    generation(folder, 32).write_text(run_goldens.twin_of(32))
    generation(folder, 20).write_text("class ModelNew(\n")
    (folder / "level_2_problem_1_sample_0_kernel.py").write_text("")


def read_lines(text):
    """The results and the summary of a run that was judged with --json."""
    lines = [json.loads(line) for line in text.splitlines()]
    assert [line["type"] for line in lines] == ["result"] * (len(lines) - 1) + ["summary"]
    return lines[:-1], lines[-1]


def outcomes(results):
    found = {(one["problem_id"], one["sample_id"]): one["outcome"] for one in results}
    assert len(found) == len(results), "a sample has two lines"
    return found


def results_of(folder):
    return json.loads((folder / "eval_results.json").read_text())


def test_a_run_is_judged_once_and_gone_on_with(hone, configured, tmp_path):
    run = tmp_path / "runs/first"
    write_run(run)
    words = ("level=1", "run_name=first", f"runs_dir={tmp_path / 'runs'}")
    judged = hone("kernelbench", "eval", *words, "--json", *configured)
    assert judged.returncode == 0, judged.stderr
    results, told = read_lines(judged.stdout)
    assert outcomes(results) == {(19, 0): "correct", (20, 0): "build_failed", (32, 0): "wrong"}
    assert told["outcomes"] == {"correct": 1, "build_failed": 1, "wrong": 1}
    assert told["other_levels"] == {"2": 1}
    assert (told["total_count"], told["total_eval"], told["compiled_count"], told["correct_count"]) == (100, 3, 2, 1)
    assert told["fast_p"] == {"0.0": 0.01, "0.5": None, "0.8": None, "1.0": None, "1.5": None, "2.0": None}
    assert told["fast_p_bounds"]["1.0"] == [0.0, 0.01]
    written = results_of(run)
    assert list(written) == ["19", "20", "32"]
    for samples in written.values():  # what KernelBench's own analysis reads of it
        assert samples[0].keys() == {"sample_id", "compiled", "correctness", "metadata", "runtime", "runtime_stats"}
        assert samples[0]["runtime"] == -1.0
    assert written["19"][0]["metadata"]["hone"]["outcome"] == "correct"
    unparsed = next(one for one in results if one["problem_id"] == 20)
    assert unparsed["reason"].startswith("submission.py:1:")  # where the mistake is, in a line
    assert unparsed["reason"] in written["20"][0]["metadata"]["hone"]["diagnostics"]

    # What is there is not judged again: a result that hone would not give stays.
    written["32"][0]["metadata"]["hone"]["outcome"] = "crashed"
    written["20"][0] = {
        "sample_id": 0,
        "compiled": True,
        "correctness": True,
        "metadata": {"theirs": 1},
        "runtime": 2.0,
    }
    (run / "eval_results.json").write_text(json.dumps(written))
    generation(run, 19).write_text(run_goldens.twin_of(19))  # another source: it is
    generation(run, 21).write_text(run_goldens.golden_file(21).read_text())
    table = hone("kernelbench", "eval", *words, *configured)
    assert table.returncode == 0, table.stderr
    assert "2 samples had a result and were not judged again" in table.stdout
    lines = [line.split() for line in table.stdout.splitlines()]
    assert ["19", "19_ReLU", "0", "wrong"] in [line[:4] for line in lines]
    assert ["20", "20_LeakyReLU", "0", "correct", "not", "measured"] in lines
    assert ["32", "32_HardTanh", "0", "crashed"] in [line[:4] for line in lines]
    assert ["0.0", "0.020"] in lines
    assert ["1.0", "unknown:", "0.000", "to", "0.020"] in lines
    counts = lines[lines.index(["outcome", "samples", "why"]) + 1 :]
    assert counts[:3] == [["correct", "2"], ["wrong", "1"], ["crashed", "1"]]
    assert f"{run}: found 1 file of level 2, not judged, because the level is 1" in table.stdout
    assert results_of(run)["20"][0]["metadata"] == {"theirs": 1}

    again = hone("eval", "kernelbench/level1", run, "--again", "--p", "0,1", "--json", *configured)
    results, told = read_lines(again.stdout)
    expected = {(19, 0): "wrong", (20, 0): "build_failed", (21, 0): "correct", (32, 0): "wrong"}
    assert outcomes(results) == expected
    assert list(told["fast_p"]) == ["0.0", "1.0"]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_results_of_a_killed_run_are_kept(hone_binary, hone, configured, tmp_path, number):
    problems = [19, 32]
    run_goldens.write_run(tmp_path, problems)
    command = [hone_binary, "eval", "kernelbench/level1", str(tmp_path), *configured]
    killed = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    for _ in range(SECONDS_MAX * 50):
        if (tmp_path / "eval_results.json").exists() or killed.poll() is not None:
            break
        time.sleep(0.02)
    killed.send_signal(number)
    said = killed.communicate(timeout=SECONDS_MAX)[1]
    assert killed.returncode == -number
    assert ("the same command continues" in said) == (number == signal.SIGINT)
    kept = sum(map(len, results_of(tmp_path).values()))
    assert 1 <= kept < 2 * len(problems)
    words = "1 sample had a result and was" if kept == 1 else f"{kept} samples had a result and were"
    finished = hone("eval", "kernelbench/level1", tmp_path, *configured)
    assert finished.returncode == 0, finished.stderr
    assert f"{words} not judged again" in finished.stdout
    assert sum(map(len, results_of(tmp_path).values())) == 2 * len(problems)


def test_results_of_a_level_are_printed_as_they_come(hone_binary, configured, tmp_path):
    problems = [19, 32]
    run_goldens.write_run(tmp_path, problems)
    command = [hone_binary, "eval", "kernelbench/level1", str(tmp_path), "--json", *configured]
    judging = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    first = json.loads(judging.stdout.readline())
    assert first["type"] == "result"
    kept = sum(map(len, results_of(tmp_path).values())) if (tmp_path / "eval_results.json").exists() else 0
    assert kept < 2 * len(problems), "the first line came after the last result"
    rest, said = judging.communicate(timeout=SECONDS_MAX)
    assert judging.returncode == 0, said
    assert without_slowness(said) == [], "there is no terminal to show progress on"
    results, told = read_lines(json.dumps(first) + "\n" + rest)
    assert len(outcomes(results)) == 2 * len(problems)
    assert told["outcomes"] == {"correct": 2, "wrong": 2}


def test_a_level_run_shows_its_progress_on_a_terminal(hone_binary, configured, tmp_path):
    run_goldens.write_run(tmp_path, [19])
    master, slave = os.openpty()
    command = [hone_binary, "eval", "kernelbench/level1", str(tmp_path), *configured]
    judging = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=slave)
    os.close(slave)
    shown = b""
    try:
        while piece := os.read(master, 4096):
            shown += piece
    except OSError:  # the other side is closed
        pass
    os.close(master)
    assert judging.wait(SECONDS_MAX) == 0
    assert "correct 1  wrong 1  other 0" in shown.decode()
    assert "/s  eta " in shown.decode()


def test_unknown_level_is_named_with_the_known_ones(hone, configured, tmp_path):
    (tmp_path / "level_9_problem_1_sample_0_kernel.py").write_text("")
    ran = hone("eval", "kernelbench/level9", tmp_path, *configured)
    assert ran.returncode == 2, ran.stdout
    assert ran.stderr.splitlines()[0] == (
        "hone: the dataset 'kernelbench' has no problem of level 9; levels found: level1 (100)"
    )


def test_second_run_on_a_folder_names_the_first_and_loses_nothing(hone_binary, hone, configured, tmp_path):
    problems = [19, 32, 100]
    run_goldens.write_run(tmp_path, problems)
    command = [hone_binary, "eval", "kernelbench/level1", str(tmp_path), *configured]
    first = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(SECONDS_MAX * 50):
        if (tmp_path / "eval_results.json").exists() or first.poll() is not None:
            break
        time.sleep(0.02)
    second = hone(*command[1:])
    assert first.wait(SECONDS_MAX) == 0
    assert second.returncode == 3
    assert second.stderr.startswith(f"hone: {tmp_path}: in use by process {first.pid} on ")
    assert "wait for that run, or stop it" in second.stderr
    assert sum(map(len, results_of(tmp_path).values())) == 2 * len(problems)


def test_results_of_kernelbench_are_analysed_over_a_baseline(hone, configured, tmp_path):
    run = tmp_path / "runs/theirs"
    run.mkdir(parents=True)
    entry = {"compiled": True, "metadata": {}, "runtime_stats": {}}
    results = {
        "19": [{**entry, "sample_id": 0, "correctness": True, "runtime": 1.0}],
        "20": [{**entry, "sample_id": 0, "correctness": True, "runtime": 4.0}],
        "21": [{**entry, "sample_id": 0, "correctness": False, "runtime": 0.1}],
    }
    (run / "eval_results.json").write_text(json.dumps(results))
    baseline = {"level1": {name: {"mean": 2.0} for name in ("19_ReLU.py", "20_LeakyReLU.py", "21_Sigmoid.py")}}
    (tmp_path / "baseline.json").write_text(json.dumps(baseline))
    words = (
        "run_name=theirs",
        "level=1",
        f"eval_results_dir={tmp_path / 'runs'}",
        f"baseline_file={tmp_path / 'baseline.json'}",
    )
    output = tmp_path / "analysis.json"
    analysed = hone("kernelbench", "analyse", *words, f"output_file={output}", *configured)
    assert analysed.returncode == 0, analysed.stderr
    told = json.loads(output.read_text())
    assert told["fast_p"] == {"0.0": 0.02, "0.5": 0.01, "0.8": 0.01, "1.0": 0.01, "1.5": 0.01, "2.0": 0.0}
    assert told["geo_mean_speedup"] == pytest.approx(1.0)
    assert told["median_speedup"] == pytest.approx(1.25)
    assert "speedup of correct samples: median 1.25" in analysed.stdout


def test_results_that_contradict_themselves_count_for_nothing_and_are_named(hone, configured, tmp_path):
    run = tmp_path / "theirs"
    run.mkdir()
    right = {"sample_id": 0, "compiled": True, "correctness": True, "runtime": 1.0}
    results = {
        "19": [{**right, "compiled": False}],
        "20": [{**right, "runtime": float("nan")}],
        "21": [{**right, "metadata": {"hone": {"outcome": "correct", "speedup": {"value": 1e308}}}}],
        "22": [{**right, "metadata": {"hone": {"outcome": "correct", "speedup": {"value": 2.0}}}}],
        "999": [right],
    }
    (run / "eval_results.json").write_text(json.dumps(results))
    words = ("kernelbench", "analyse", "level=1", f"eval_results_dir={tmp_path}", "run_name=theirs")
    shown = hone(*words, *configured)
    assert shown.returncode == 3, shown.stderr
    file = run / "eval_results.json"
    assert (
        f"{file}: problem 19, sample 0: found compiled false and correctness true, "
        "which contradict each other; it is not counted" in shown.stdout
    )
    assert f'{file}: problem 20, sample 0: found runtime "NaN", expected milliseconds' in shown.stdout
    assert f"{file}: problem 21, sample 0: found hone.speedup 1e+308, expected" in shown.stdout
    assert "problems that are not in level 1 and are not counted: 999" in shown.stdout
    assert "median 2.00\u00d7, geometric mean 2.00\u00d7" in shown.stdout
    assert " inf" not in shown.stdout
    assert "nan" not in shown.stdout
    results, told = read_lines(hone(*words, "--json", *configured).stdout)
    assert outcomes(results)[22, 0] == "correct"
    assert [one["problem_id"] for one in told["refused"]] == [19, 20, 21]
    assert told["unknown_problems"] == [999]
    assert (told["correct_count"], told["not_judged"]) == (1, 3)
    assert told["fast_p_bounds"]["1.0"] == [0.01, 0.04]


def test_bad_files_of_a_run_become_rows(hone, configured, tmp_path):
    shutil.copy(run_goldens.golden_file(19), generation(tmp_path, 19))
    os.mkfifo(generation(tmp_path, 20))
    generation(tmp_path, 21).symlink_to(tmp_path / "nowhere")
    generation(tmp_path, 22).mkdir()
    for number in ("025", "25"):
        generation(tmp_path, number).write_text("class ModelNew(\n")
    generation(tmp_path, 999).write_text("")
    judged = hone("eval", "kernelbench/level1", tmp_path, "--json", *configured)
    assert judged.returncode == 3, judged.stderr
    results, told = read_lines(judged.stdout)
    unjudged = {(number, 0): "not_judged" for number in (20, 21, 22, 25, 999)}
    assert outcomes(results) == {(19, 0): "correct", **unjudged}
    assert told["outcomes"] == {"correct": 1, "not_judged": 5}
    assert sum(one["samples"] for one in told["not_judged_samples"]) == 5
    why = {one["problem_id"]: one.get("error", "") for one in results}
    assert why[20].endswith("_problem_20_sample_0_kernel.py: not a regular file")
    assert why[21].endswith(": no such file or directory")
    assert why[22].endswith("_problem_22_sample_0_kernel.py: not a regular file")
    assert "found two files of this sample, " in why[25]
    assert "_problem_025_sample_0_kernel.py" in why[25]
    assert "_problem_25_sample_0_kernel.py" in why[25]
    assert why[999] == f"{generation(tmp_path, 999).name}: level 1 has no problem 999"
    assert told["not_judged"] == 4
    assert list(results_of(tmp_path)) == ["19"]
    table = hone("eval", "kernelbench/level1", tmp_path, *configured)
    assert table.returncode == 3
    lines = [line.split() for line in table.stdout.splitlines()]
    assert ["999", "0", "not", "judged"] in [line[:4] for line in lines]
    counts = table.stdout[table.stdout.index("outcome  ", table.stdout.index("fast_p")) :]
    assert "level 1 has no problem 999" in counts
    assert "not a regular file" in counts


def test_unconfigured_problem_is_an_error_with_advice(hone, configured, tmp_path):
    file = generation(tmp_path, 19)
    file.write_text("")
    for task in ("kernelbench/level1/19", "level1/19"):
        bare = hone("eval", task, file)
        assert bare.returncode == 2
        assert bare.stderr.startswith("hone: found 0 datasets of the plugin kernelbench, expected one; add it"), task
    folder = hone("eval", "kernelbench/level1/19", tmp_path, *configured)
    assert folder.returncode == 2
    assert folder.stderr == (
        f"hone: {tmp_path}: found a folder, expected a file; give kernelbench/level1 for a folder\n"
    )


def test_missing_torch_prints_the_remedy(hone, python, kernelbench_data, tmp_path):
    for problem in (19, 20):
        shutil.copy(run_goldens.golden_file(problem), generation(tmp_path, problem))
    bare = tmp_path / "python"  # this machine's, without site packages
    bare.write_text('#!/bin/sh\nexec /usr/bin/python3 -I -S "$@"\n')
    bare.chmod(0o755)
    options = run_goldens.dataset_options(kernelbench_data, python)
    ran = hone("eval", "kernelbench/level1", tmp_path, *options, "--set", f"plugins.python={bare}")
    assert ran.returncode == 3, ran.stderr
    assert "scripts/setup --python" in ran.stdout


def test_errors_name_the_remedy(hone, configured, tmp_path):
    def said(*words):
        ran = hone("kernelbench", *words, *configured)
        assert ran.returncode == 2, ran.stdout
        return ran.stderr.splitlines()[0]

    empty = (f"runs_dir={tmp_path}", "run_name=none")
    assert said("eval", "level=1") == (
        "hone: kernelbench eval: found no run_name, expected the name of a folder in runs_dir"
    )
    assert said("eval", "level=1", *empty) == f"hone: {tmp_path}/none: No such file or directory"
    assert said("eval", "level=1", "precision=bf16", *empty).startswith(
        "hone: kernelbench eval: precision: found 'bf16'"
    )
    assert said("analyse", "level=1", *empty).startswith(f"hone: {tmp_path}/none/eval_results.json: no results")
    assert said("generate", "level=1", *empty).startswith(
        "hone: kernelbench generate: found no endpoint, expected url="
    )
    unknown = said("generate", "level=1", "problem_id=101", "url=http://127.0.0.1:1/v1", *empty)
    assert unknown == "hone: level 1 has the problems 1 to 100; a requested problem is not among them"
    bare = hone("kernelbench", "eval", "level=1", *empty)
    assert bare.stderr.startswith("hone: found 0 datasets of the plugin kernelbench, expected one; add it")


def test_missing_option_of_a_package_is_not_a_syntax_error(hone_binary, configured, tmp_path):
    older = tmp_path / "python"  # imports hone.rollout, and does not know --once
    older.write_text('#!/bin/sh\n[ "$1" = -c ] && exit 0\necho "unrecognized arguments: --once" >&2\nexit 2\n')
    older.chmod(0o755)
    words = ("level=1", "problem_id=19", "run_name=new", "url=http://127.0.0.1:1/v1")
    ran = subprocess.run(
        [hone_binary, "kernelbench", "generate", *words, *configured],
        cwd=tmp_path,
        env={**os.environ, "HONE_PYTHON": str(older)},
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
    )
    assert ran.returncode == 2, ran.stderr
    version = subprocess.run([hone_binary, "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
    assert f"it is too old; install hone.rollout of version {version}, the version of this hone" in ran.stderr


def test_a_problem_is_generated_and_judged_and_nothing_asked_twice(hone_binary, configured, tmp_path):
    pytest.importorskip("hone.rollout", reason="the client is not installed: tests/clients/run --prepare")
    right = f"<think>Hm.</think>Here:\n```python\n{run_goldens.golden_file(19).read_text()}```\n"
    answers = [right, "I cannot.", right.replace("tl.maximum(x, 0.0)", "tl.abs(x)")]
    asked = []

    def answer(body, request_id):
        asked.append(request_id)
        return Reply(answers[len(asked) - 1])

    stub = ChatStub(answer)
    words = ["level=1", "problem_id=19", "run_name=new", f"url={stub.url}", "num_samples=3", "num_workers=1"]
    environment = {**os.environ, "HONE_PYTHON": sys.executable, "NO_PROXY": "127.0.0.1", "NO_COLOR": "1"}

    def generate():
        return subprocess.run(
            [hone_binary, "kernelbench", "generate", *words, "--json", *configured],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=SECONDS_MAX,
        )

    try:
        first, second = generate(), generate()
    finally:
        stub.stop()
    assert first.returncode == 0, first.stderr
    results, told = read_lines(first.stdout)
    assert outcomes(results) == {(19, 0): "correct", (19, 1): "no_code", (19, 2): "wrong"}
    assert told["pass_at_k"] == {"pass@1": pytest.approx(1 / 3), "pass@3": 1.0}
    run = tmp_path / "runs/new"
    assert generation(run, 19).read_text().strip() == run_goldens.golden_file(19).read_text().strip()
    assert not generation(run, 19, 1).exists()
    repeated, summary = read_lines(second.stdout)
    assert (outcomes(repeated), summary) == (outcomes(results), told), second.stderr
    assert len(asked) == 3, "a sample that failed is not asked for once more, nor is any by the second run"
