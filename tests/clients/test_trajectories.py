"""Exports from the journal of a real server, as rows and Parquet files."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import hone
import pyarrow.parquet as pq
import pytest
from hone import trajectories

from conftest import ROOT, RealServer

GOLDEN = ROOT / "envs" / "kernel_refine" / "tasks" / "add_relu" / "golden"
WRONG = (GOLDEN / "demo_1_wrong.cpp").read_text()
FAST = (GOLDEN / "demo_4_fused.cpp").read_text()
BROKEN = (GOLDEN / "build_typo.cpp").read_text()


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three episodes of one task: wrong and then right; one that does not build; one with a call of a tool."""
    folder = tmp_path_factory.mktemp("journal")
    path = folder / "run.db"
    settings = [f"journal.path={path}", "environment.max_turns=2", "environment.tools.compile=1"]
    server = RealServer(folder / "serve.log", 0, *(word for one in settings for word in ("--set", one)))
    try:
        with hone.connect(server.endpoint) as client:
            for codes in ([WRONG, FAST], [BROKEN]):
                start = client.reset("add_relu", group="g")
                for code in codes:
                    start.episode.step(code)
            client.reset("add_relu", group="g").episode.tool("compile", BROKEN)
    finally:
        server.stop()
    return path


def without_nulls(value: Any) -> Any:
    """Messages without the columns that they do not use."""
    if isinstance(value, list):
        return [without_nulls(one) for one in value]
    if isinstance(value, dict):
        return {key: without_nulls(one) for key, one in value.items() if one is not None}
    return value


@pytest.mark.real
@pytest.mark.parametrize("form", trajectories.FORMS)
def test_a_journal_becomes_a_file_of_each_form(journal: Path, tmp_path: Path, form: trajectories.Form) -> None:
    rows = list(trajectories.from_journal(journal, form=form))
    assert len(rows) == {"trajectories": 3, "rl": 3, "sft": 1, "pairs": 1}[form]
    target = tmp_path / "rows.parquet"
    assert trajectories.to_parquet(rows, target, form=form) == len(rows)
    table = pq.read_table(target)
    assert table.schema.equals(trajectories.schema(form))
    stored = table.to_pylist()
    assert [set(row) for row in stored] == [set(row) for row in rows], "no column is forgotten"
    assert not list(tmp_path.glob("*.partial"))
    for row, origin in zip(stored, rows, strict=True):
        for name in set(row) & {"episode", "task", "turn", "reward", "return", "messages", "chosen", "rejected"}:
            if form != "trajectories" or name != "reward":
                assert without_nulls(row[name]) == origin[name], name


@pytest.mark.real
def test_calls_of_tools_are_kept(journal: Path, tmp_path: Path) -> None:
    rows = list(trajectories.from_journal(journal))
    trajectories.to_parquet(rows, tmp_path / "rows.parquet")
    wrong, _, called = pq.read_table(tmp_path / "rows.parquet").to_pylist()
    assert wrong["calls"] == []
    (call,) = called["calls"]
    (origin,) = rows[2]["calls"]
    assert set(call) == set(origin), "no column is forgotten"
    assert (call["tool"], call["turn"], json.loads(call["action"])) == ("compile", 1, origin["action"])
    assert (call["feedback"], json.loads(call["facts"])) == (origin["feedback"], origin["facts"])
    assert (call["turn_reward"], origin["turn_reward"]) == (None, None), "its turn is not finished"
    (asked,) = called["messages"][call["message"]]["tool_calls"]
    answer = called["messages"][call["message"] + 1]
    assert asked["function"]["name"] == "compile"
    assert (answer["role"], answer["tool_call_id"]) == ("tool", asked["id"])


@pytest.mark.real
def test_the_example_of_the_readme_makes_a_file(journal: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "clients/python/README.md").read_text()
    found = re.search(r"^```python name=parquet\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert found, "clients/python/README.md has no block that begins ```python name=parquet"
    monkeypatch.chdir(journal.parent)
    exec(compile(found.group(1), "README.md", "exec"), {})
    assert pq.read_table("sft.parquet").num_rows == 1


@pytest.mark.real
def test_an_episode_keeps_its_numbers_and_words(journal: Path, tmp_path: Path) -> None:
    origin = next(iter(trajectories.from_journal(journal)))
    trajectories.to_parquet([origin], tmp_path / "one.parquet")
    (row,) = pq.read_table(tmp_path / "one.parquet").to_pylist()
    assert row["returns"] == origin["returns"]
    assert row["seed"] == origin["seed"]
    wrong, fast = row["turns"]
    assert (wrong["verdict"]["outcome"], fast["verdict"]["outcome"]) == ("wrong", "correct")
    assert wrong["verdict"]["speedup"] is None
    assert fast["verdict"]["speedup"]["value"] == origin["turns"][1]["verdict"]["speedup"]["value"]
    assert dict(fast["verdict"]["stage_ms"]) == origin["turns"][1]["verdict"]["stage_ms"]
    assert json.loads(fast["action"]) == {"code": FAST}
    assert json.loads(wrong["verdict"]["mismatch"])["tensor"] == "out"
    assert without_nulls(row["messages"][wrong["message"]]) == {"role": "assistant", "content": WRONG}


@pytest.mark.real
def test_the_best_and_the_worst_first_answers_are_a_pair(journal: Path) -> None:
    (pair,) = trajectories.from_journal(journal, form="pairs")
    assert pair["chosen"] == [{"role": "assistant", "content": WRONG}], "it built, the other did not"
    assert pair["rejected"] == [{"role": "assistant", "content": BROKEN}]
    assert [one["role"] for one in pair["prompt"]] == ["system", "user"]
    assert pair["chosen_reward"] > pair["rejected_reward"]


@pytest.mark.real
def test_the_best_conversation_ends_with_its_kernel(journal: Path) -> None:
    (example,) = trajectories.from_journal(journal, form="sft")
    assert [one["role"] for one in example["messages"]] == ["system", "user", "assistant", "user", "assistant"]
    assert example["messages"][-1]["content"] == FAST


@pytest.mark.real
def test_the_module_is_a_command(journal: Path, tmp_path: Path) -> None:
    module = [sys.executable, "-m", "hone.trajectories"]
    target = tmp_path / "rl.parquet"
    done = subprocess.run(
        [*module, "--journal", str(journal), "--as", "rl", str(target)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, f"3 rows in {target}\n"), done.stderr
    binary = os.environ["HONE_BINARY"]
    lines = subprocess.run([binary, "export", "--journal", str(journal), "--as", "rl"], capture_output=True, text=True)
    (tmp_path / "rl.jsonl").write_text(lines.stdout)
    again = tmp_path / "again.parquet"
    subprocess.run([*module, "--export", str(tmp_path / "rl.jsonl"), "--as", "rl", str(again)], check=True)
    assert pq.read_table(again).equals(pq.read_table(target))
    refused = subprocess.run(
        [*module, "--journal", str(tmp_path / "none.db"), str(tmp_path / "none.parquet")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert refused.returncode == 1
    assert "no such file" in refused.stderr
    assert not (tmp_path / "none.parquet").exists()


def command(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [os.environ["HONE_BINARY"], *map(str, arguments)], capture_output=True, text=True, check=False
    )


@pytest.mark.real
@pytest.mark.parametrize("name", ["export", "episodes", "rescore"])
def test_a_filter_that_names_nothing_in_the_journal_is_refused(journal: Path, name: str) -> None:
    for given, said in (
        (("--task", "foo"), "the journal has no episode of task 'foo'; it has: tasks/add_relu"),
        (("--task", "add_relu"), "the journal has no episode of task 'add_relu'; did you mean 'tasks/add_relu'?"),
        (("--task", "tasks/add_rule"), "did you mean 'tasks/add_relu'?"),
        (("--group", "no such group"), "the journal has no episode of group 'no such group'; it has: g"),
        (("--client", "no such client"), "the journal has no episode of client 'no such client'; it has: "),
    ):
        ran = command(name, "--journal", journal, *given)
        assert (ran.returncode, ran.stdout) == (2, ""), ran
        assert said in ran.stderr


@pytest.mark.real
@pytest.mark.parametrize("name", ["export", "episodes", "rescore"])
def test_filter_without_a_match_is_reported(journal: Path, name: str) -> None:
    ran = command(name, "--journal", journal, "--state", "reaped", "--task", "tasks/add_relu")
    assert ran.returncode == 0, ran.stderr
    assert "no episode matches all of --state, --task, --client and --group" in ran.stderr


@pytest.mark.real
def test_rescore_shows_short_numbers_under_distinct_names(journal: Path) -> None:
    ran = command("rescore", "--journal", journal)
    assert ran.returncode == 0, ran.stderr
    header, *rows = ran.stdout.splitlines()
    assert re.split(r" {2,}", header.strip()) == [
        "episode", "task", "turns", "reward then", "return then", "reward now", "return now",
    ]  # fmt: skip
    assert len(rows) == 2
    assert not re.search(r"\d\.\d{6,}", ran.stdout)
    assert all(row.split()[3] == row.split()[5] == "tritonforge" for row in rows)


@pytest.mark.real
def test_a_broken_reward_has_its_traceback_once(journal: Path, tmp_path: Path) -> None:
    reward = tmp_path / "broken.py"
    reward.write_text("class Reward:\n    def score(self, episode):\n        return [1 / 0]\n")
    ran = command("rescore", "--journal", journal, "--reward", reward)
    assert ran.returncode == 1
    assert ran.stderr.count("Traceback") == 1
    assert "2 of 2 episodes have no score, because the reward failed" in ran.stderr


@pytest.mark.real
def test_reader_that_stops_leaves_no_process(journal: Path) -> None:
    rows = trajectories.from_journal(journal)
    assert next(rows)["task"] == "tasks/add_relu"
    rows.close()  # type: ignore[attr-defined]


def test_rows_of_another_form_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="a row without 'prompt' is none of pairs"):
        trajectories.to_parquet([{"task": "t"}], tmp_path / "x.parquet", form="pairs")
    assert not list(tmp_path.iterdir())
    form: Any = "dpo"
    with pytest.raises(ValueError, match="found form 'dpo'"):
        trajectories.schema(form)


def test_a_line_that_is_none_is_named() -> None:
    with pytest.raises(ValueError, match="line 3: "):
        list(trajectories.read(['{"task": "t"}\n', "\n", "{"]))
    with pytest.raises(ValueError, match="line 1: found list, expected an object"):
        list(trajectories.read(["[]"]))


def test_no_rows_are_a_file_with_columns(tmp_path: Path) -> None:
    assert trajectories.to_parquet([], tmp_path / "none.parquet", form="rl") == 0
    table = pq.read_table(tmp_path / "none.parquet")
    assert table.num_rows == 0
    assert table.schema.equals(trajectories.schema("rl"))
