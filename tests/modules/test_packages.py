"""Imports that fail: omitted imports, errors for a whole dataset, and the time limit of descriptions."""

import time

import pytest
from hone_modules.limit import SlowModule, limited
from hone_modules.packages import missing_lines, without_unused
from hone_modules.problems import Problem

UNUSED = [
    "import absent",
    "import absent.part.of_it",
    "import absent as other",
    "from absent import SummaryWriter",
    "from absent.part import (\n    one,\n    two as three,\n)",
    "from torch.utils.tensorboard import SummaryWriter",
    "from torch.utils.tensorboard.writer import SummaryWriter",
    "import torch.utils.tensorboard as tb",
]


@pytest.fixture(autouse=True)
def _tensorboard_is_missing(monkeypatch):
    monkeypatch.setattr("hone_modules.packages.is_missing", lambda name: name in ("absent", "gone", "tensorboard"))


@pytest.mark.parametrize("line", UNUSED)
def test_an_import_that_fails_and_is_not_used_is_left_out(line):
    source = f"import os\n{line}\nclass Model: pass\n"
    left = without_unused(source)
    assert "absent" not in left
    assert "tensorboard" not in left
    assert len(left.splitlines()) == len(source.splitlines())
    namespace = {}
    exec(compile(left, "left", "exec"), namespace)
    assert namespace["Model"].__name__ == "Model"
    assert missing_lines([Problem("1", "x", source, ())]) == []


@pytest.mark.parametrize(
    ("line", "use"),
    [
        ("import absent", "absent.f()"),
        ("import absent.part", "absent.part.f()"),
        ("import absent as other", "other"),
        ("from absent import f", "lambda: f()"),
        ("from absent import *", "None"),
        ("from torch.utils.tensorboard import SummaryWriter", "SummaryWriter"),
    ],
)
def test_an_import_that_is_used_stays(line, use):
    source = f"{line}\nvalue = lambda: {use}\n"
    assert without_unused(source) == source
    (said,) = missing_lines([Problem("level4/1", "x", source, ())])
    assert said.startswith("level4/1 needs the package " + ("tensorboard" if "torch" in line else "absent"))


def test_only_names_that_fail_leave_their_line():
    assert without_unused("import os, absent, gone as g\nprint(g)\n") == "import os, gone as g\nprint(g)\n"


@pytest.mark.parametrize(
    "source",
    ["import absent\nclass (\n", "import absent; x = 1\n", "try:\n    import absent\nexcept ImportError: pass\n"],
)
def test_a_source_that_cannot_be_changed_safely_stays(source):
    assert without_unused(source) == source


def test_one_line_names_the_missing_package_of_a_set(monkeypatch):
    monkeypatch.setattr("hone_modules.packages.is_missing", lambda name: name == "transformers")
    source = "from transformers import AutoConfig\nconfig = AutoConfig\n"
    (line,) = missing_lines([Problem(f"level4/{i}", "x", source, ()) for i in range(20)])
    assert line.startswith("20 problems need the package transformers, which ")
    assert "scripts/setup --python --level4" in line


def loop_of(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def test_a_description_within_its_limit_is_not_ended():
    with limited("level4/1", 30):
        loop_of(0.01)


def test_loop_over_its_limit_is_ended_even_if_it_catches_everything():
    with pytest.raises(SlowModule, match=r"took 0.05 s of processor time.* describe_seconds: 0.2"), limited("a", 0.05):
        try:
            loop_of(60)
        except Exception:
            loop_of(60)


def test_progress_of_a_long_description_is_reported(capsys, monkeypatch):
    monkeypatch.setattr("hone_modules.limit.PROGRESS_EVERY_S", 0.05)
    with pytest.raises(SlowModule), limited("level4/7", 0.5):
        loop_of(60)
    lines = capsys.readouterr().out.splitlines()
    assert lines
    assert all(line.startswith("warning: level4/7: describing it has taken") for line in lines)
    assert "the limit is 0.5 s of processor time (describe_seconds)" in lines[0]
