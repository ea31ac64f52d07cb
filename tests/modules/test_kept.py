"""Kept tasks: later processes read them, a difference makes another one, and those of other users are not taken."""

import json
import os
import shutil

import pytest
from hone_modules import dataset as datasets
from hone_modules import kept
from hone_modules.dataset import ModuleDataset, Problem

SOURCE = """import torch
class Doubled(torch.nn.Module):
    def forward(self, x):
        return 2 * x
def get_inputs():
    return [torch.rand(4)]
def get_init_inputs():
    return []
"""


class OneProblem(ModuleDataset):
    source = SOURCE

    def read(self, path):
        return [Problem("doubled", "Doubled", self.source, (), place=f"{path}:1")]


@pytest.fixture
def described(monkeypatch):
    """The sources that were described. torch is left out, but for the last test."""
    found = []

    def task_of(problem, split, exact=False, baseline="eager", precision=None):
        found.append(problem.source)
        return {"id": problem.id, "split": split, "baseline": baseline, "precision": precision, "number": len(found)}

    monkeypatch.setattr(datasets, "task_of", task_of)
    return found


@pytest.fixture
def opened(tmp_path, monkeypatch):
    """opened(source, option=value, …) is a dataset of one problem with its folder `tasks`."""

    def make(source=SOURCE, **config):
        monkeypatch.setattr(OneProblem, "source", source)
        known = {name: spec.get("default", "") for name, spec in OneProblem.parameters.items()}
        return OneProblem({**known, "path": "rows", "kept_tasks": str(tmp_path / "tasks"), **config})

    return make


def test_a_task_is_described_once_and_is_the_same_afterwards(described, opened, tmp_path):
    first = opened().get_task("doubled")
    assert opened(path="moved").get_task("doubled") == first
    assert len(described) == 1
    assert (tmp_path / "tasks").stat().st_mode & 0o777 == 0o700
    assert [file.suffix for file in (tmp_path / "tasks").iterdir()] == [".json"]


@pytest.mark.parametrize(
    "other",
    [
        {"source": SOURCE + "# changed\n"},
        {"split": "test"},
        {"baseline": "compile"},
        {"precision": {"compute": "bf16"}},
    ],
    ids=lambda other: next(iter(other)),
)
def test_whatever_a_task_is_made_of_makes_another_task(described, opened, other):
    first = opened().get_task("doubled")
    assert opened(**other).get_task("doubled") != first
    assert len(described) == 2


def test_settings_of_the_dataset_are_not_kept(described, opened):
    assert opened(memory_mb=100).get_task("doubled")["memory_mb"] == 100
    assert opened(memory_mb=200).get_task("doubled")["memory_mb"] == 200
    assert len(described) == 1


def test_another_hone_or_another_torch_describes_anew(described, opened, monkeypatch, tmp_path):
    opened().get_task("doubled")
    before = kept.describer()
    folder = tmp_path / "package"
    shutil.copytree(os.path.dirname(kept.__file__), folder)
    with (folder / "describe.py").open("a") as file:
        file.write("# another version\n")
    monkeypatch.setattr(kept, "__file__", str(folder / "kept.py"))
    kept.describer.cache_clear()
    try:
        assert kept.describer() != before
        opened().get_task("doubled")
        assert len(described) == 2
    finally:
        monkeypatch.undo()
        kept.describer.cache_clear()


@pytest.mark.parametrize("reads", ["import os", "from os import path", "text = open('rows').read()"])
def test_a_source_that_may_read_other_things_is_described_each_time(described, opened, reads):
    source = f"{reads}\n{SOURCE}"
    opened(source).get_task("doubled")
    opened(source).get_task("doubled")
    assert len(described) == 2


@pytest.mark.parametrize("text", ["", "{", "[]", '{"id": "doub'])
def test_a_damaged_file_is_described_anew_and_replaced(described, opened, tmp_path, text):
    opened().get_task("doubled")
    (file,) = (tmp_path / "tasks").iterdir()
    file.write_text(text)
    assert opened().get_task("doubled")["number"] == 2
    assert json.loads(file.read_text())["number"] == 2


def test_a_task_planted_by_another_user_is_not_read(described, opened, tmp_path, capsys):
    """With the check of the folder's mode left out, the planted task is taken, as the first half shows."""
    opened().get_task("doubled")
    (file,) = (tmp_path / "tasks").iterdir()
    file.write_text(json.dumps({"id": "doubled", "tolerance": "anything goes"}))
    assert opened().get_task("doubled")["tolerance"] == "anything goes"
    (tmp_path / "tasks").chmod(0o777)
    assert "tolerance" not in opened().get_task("doubled")
    said = capsys.readouterr().out
    assert f"kept_tasks: {tmp_path}/tasks: other users can write to it: found mode 777, expected 700" in said
    (tmp_path / "tasks").chmod(0o700)
    if os.geteuid() == 0:
        os.chown(tmp_path / "tasks", 12345, 12345)
        assert "tolerance" not in opened().get_task("doubled")
        assert "found the owner 12345, expected 0" in capsys.readouterr().out


def test_without_a_folder_tasks_are_described_and_only_a_chosen_folder_is_warned_of(
    described, opened, tmp_path, monkeypatch, capsys
):
    opened(kept_tasks="none").get_task("doubled")
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(kept, "default_folder", lambda: str(tmp_path / "file/tasks"))
    opened(kept_tasks="").get_task("doubled")
    assert "kept_tasks" not in capsys.readouterr().out
    opened(kept_tasks=str(tmp_path / "file/tasks")).get_task("doubled")
    assert f"kept_tasks: {tmp_path}/file/tasks: Not a directory" in capsys.readouterr().out
    assert len(described) == 3
    assert not (tmp_path / "tasks").exists()


def test_the_oldest_make_room(described, opened, tmp_path, monkeypatch):
    monkeypatch.setattr(kept, "FILES_MAX", 10)
    for number in range(12):
        opened(SOURCE + f"# {number}\n").get_task("doubled")
    left = list((tmp_path / "tasks").iterdir())
    assert len(left) == 10
    opened(SOURCE + "# 11\n").get_task("doubled")
    assert len(described) == 12


def test_the_command_takes_the_kept_task(hone, python, tmp_path):
    (tmp_path / "problems").mkdir()
    (tmp_path / "problems/doubled.py").write_text(SOURCE)
    config = f"{{path: '{tmp_path}/problems', kept_tasks: '{tmp_path}/tasks'}}"
    words = [
        "--set",
        f"datasets=[{{name: own, plugin: modules, config: {config}}}]",
        "--set",
        f"plugins.python={python}",
    ]
    first = hone("tasks", "doubled", "--json", *words)
    assert first.returncode == 0, first.stderr
    (file,) = (tmp_path / "tasks").iterdir()
    assert hone("tasks", "doubled", "--json", *words).stdout == first.stdout
    task = json.loads(file.read_text())
    file.write_text(json.dumps({**task, "title": "the kept one"}))
    assert json.loads(hone("tasks", "doubled", "--json", *words).stdout)["title"] == "the kept one"
