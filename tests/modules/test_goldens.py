"""Golden Triton submissions for KernelBench's level 1, each with a broken twin, judged as two samples."""

import pytest
import run_goldens

SECONDS_MAX = 1200


def test_every_golden_has_a_twin_that_differs():
    files = sorted(file.name for file in run_goldens.GOLDENS.glob("*.py"))
    assert files == sorted(run_goldens.golden_file(problem).name for problem in run_goldens.TWINS)
    assert len(files) >= 20
    for problem in run_goldens.TWINS:
        assert run_goldens.twin_of(problem) != run_goldens.golden_file(problem).read_text()


def test_goldens_are_correct_and_their_twins_wrong(hone_binary, python, kernelbench_data, tmp_path):
    problems = sorted(run_goldens.TWINS)
    run_goldens.write_run(tmp_path, problems)
    options = run_goldens.dataset_options(kernelbench_data, python)
    samples = run_goldens.judge([hone_binary], tmp_path, options, SECONDS_MAX)
    assert run_goldens.surprises(samples, problems) == []


def test_unexpected_exception_is_reported(monkeypatch):
    samples = {(19, 0): {"outcome": "wrong", "reason": "output out is wrong"}, (19, 1): {"outcome": "correct"}}
    assert run_goldens.surprises(samples, [19]) == [
        "problem 19, golden: found wrong, expected correct: output out is wrong",
        "problem 19, twin: found correct, expected wrong: no reason",
    ]
    monkeypatch.setitem(run_goldens.TWINS, 19, ("not in it", "x"))
    with pytest.raises(ValueError, match="problem 19: found 'not in it' 0 times in its golden, expected once"):
        run_goldens.twin_of(19)
