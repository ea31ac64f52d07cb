"""hone report on journals of a real server: its figures match the exported episodes, with and without filters."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import hone
import pytest

from servers import RealServer
from test_journal import FAST, WRONG
from test_web_page import HOSTILE, PAYLOADS

pytestmark = pytest.mark.real


def played(folder: Path, codes: list[str], *, name: str, hostile: bool = False) -> Path:
    """A journal with one ended and one open episode; `hostile`: also with one episode for each hostile text."""
    journal = folder / name
    settings = [f"journal.path={journal}", f"environment.max_turns={len(codes)}", "environment.stop_reward=null"]
    server = RealServer(folder / "serve.log", 0, *(word for one in settings for word in ("--set", one)))
    with hone.connect(server.endpoint, name="trainer-a") as client:
        episode = client.reset("add_relu", group="first").episode
        for code in codes:
            episode.step(code)
        client.reset("gelu").episode.step("int x = ;")
    if hostile:
        for number in range(0, len(HOSTILE), 2):
            group = HOSTILE[number + 1].replace("\x1b", "").replace("\x07", "")
            with hone.connect(server.endpoint, name=HOSTILE[number]) as client:
                client.reset("add_relu", group=group).episode.step(response=HOSTILE[number])
    server.stop()
    return journal


@pytest.fixture(scope="module")
def journals(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("report")
    return played(folder, [WRONG, FAST], name="before.db"), played(folder, [FAST, FAST], name="after.db", hostile=True)


def ran(command: str, *arguments: object, status: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([os.environ["HONE_BINARY"], command, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == status, (done.stdout, done.stderr)
    return done


def figures(*arguments: object) -> Any:
    return json.loads(ran("report", *arguments, "--json").stdout)


class Elements(HTMLParser):
    """Tags and attributes of a page, and the text of its body."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.text = ""
        self.policy = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes.update(name for name, _ in attrs)
        if dict(attrs).get("http-equiv") == "Content-Security-Policy":
            self.policy = dict(attrs)["content"] or ""

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_figures_are_those_of_the_exported_episodes(journals: tuple[Path, Path]) -> None:
    before, _ = journals
    exported = [json.loads(line) for line in ran("export", "--journal", before).stdout.splitlines()]
    (report,) = figures(before)["journals"]
    turns = [turn for one in exported for turn in one["turns"]]
    assert report["episodes"] == {"all": 2, "open": 1, "ended": 1, "closed": 0, "reaped": 0}
    assert report["all"]["attempts"] == len(turns) == 3
    assert report["all"]["success"] == pytest.approx(1 / 3)
    assert report["all"]["reward_mean"] == pytest.approx(sum(turn["reward"] for turn in turns) / 3)
    (returns,) = [one["returns"] for one in exported if one["returns"]]
    assert report["all"]["return_mean"] == pytest.approx(returns[0])
    assert report["all"]["returns"] == 1, "an open episode has no return"
    (speedup,) = [turn["verdict"]["speedup"] for turn in turns if turn["verdict"].get("speedup")]
    task = next(one for one in report["tasks"] if one["name"] == "tasks/add_relu")
    assert [task["best_low"], task["best_speedup"], task["best_high"]] == [
        pytest.approx(speedup[key]) for key in ("low", "value", "high")
    ]
    assert [one["name"] for one in report["tasks"]] == ["tasks/add_relu", "tasks/gelu"]
    assert [(one["name"], one["attempts"]) for one in report["clients"]] == [("trainer-a", 3)]
    assert report["fingerprints"][0]["fingerprint"]
    assert sum(one["attempts"] for one in report["speedups"]) == 1
    assert sum(one["attempts"] for one in report["over_time"]) == 3
    assert (report["caught"], report["faults"], report["damaged"]) == ([], [], 0)


def test_filters_choose_episodes_and_unknown_names_are_refused(journals: tuple[Path, Path]) -> None:
    before, after = journals
    (report,) = figures(before, "--task", "tasks/gelu", "--client", "trainer-a")["journals"]
    assert report["all"]["attempts"] == 1
    assert report["filter"] == {"task": "tasks/gelu", "client": "trainer-a"}
    (report,) = figures(after, "--client", HOSTILE[4])["journals"]
    assert report["episodes"]["all"] == 1
    (reward,) = [one["name"] for one in figures(before)["journals"][0]["rewards"]]
    assert figures(before, "--reward", reward)["journals"][0]["episodes"]["all"] == 2
    for given, said in (
        (["--client", "trainer-b"], "no episode of client 'trainer-b'; did you mean 'trainer-a'?"),
        (["--task", "gelu"], "did you mean 'tasks/gelu'?"),
        (["--reward", reward + "x"], f"did you mean '{reward}'?"),
        (["--task", "tasks/gelu", "--state", "ended"], "no episode matches all filters"),
    ):
        refused = ran("report", before, *given, status=2).stderr
        assert said in refused
        assert "to write a journal" not in refused


def test_two_journals_are_compared_by_task(journals: tuple[Path, Path], tmp_path: Path) -> None:
    report = figures(*journals, "--client", "trainer-a")
    assert [one["name"] for one in report["journals"]] == ["before.db", "after.db"]
    row = next(one for one in report["comparison"] if one["task"] == "tasks/add_relu")
    a, b = row["sets"]
    assert (a["success"], b["success"]) == (0.5, 1)
    assert row["reward_difference"] == [pytest.approx(b["reward_mean"] - a["reward_mean"])]
    assert row["speedup_ratio"] == [pytest.approx(b["best_speedup"] / a["best_speedup"])]
    output = tmp_path / "report.html"
    ran("report", *journals, "-o", output)
    assert "Comparison" in Elements(output.read_text()).text


def test_a_report_is_one_file_that_may_load_and_run_nothing(journals: tuple[Path, Path], tmp_path: Path) -> None:
    output = tmp_path / "report.html"
    output.write_text("an older report")
    done = ran("report", journals[1], "-o", output)
    assert f"wrote {output}" in done.stdout
    assert list(tmp_path.iterdir()) == [output], "no temporary file is left"
    page = Elements(output.read_text())
    assert page.policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in page.policy
    known = {"html", "head", "meta", "title", "style", "body", "header", "main", "section", "div", "span", "p", "b"}
    known |= {"h1", "h2", "h3", "ul", "li", "dl", "dt", "dd", "table", "thead", "tbody", "tr", "th", "td"}
    known |= {"code", "svg", "rect", "line", "text", "circle", "polyline"}
    assert set(page.tags) <= known, "no payload of a client's name has become an element"
    assert not {name for name in page.attributes if name.startswith("on")} | page.attributes & {"src", "href", "style"}
    assert len(PAYLOADS) >= 30
    for number in range(0, len(HOSTILE), 2):
        if HOSTILE[number].isprintable():
            assert HOSTILE[number][:79] in page.text
    for words in ("Definitions", "fast_1", "Mean return", "Hardware", " UTC", "95 % confidence interval"):
        assert words in page.text
    assert not any(mark in output.read_text() for mark in "\u202e\u200b\x1b\x07")


def test_a_file_that_cannot_be_written_is_named(journals: tuple[Path, Path], tmp_path: Path) -> None:
    said = ran("report", journals[0], "-o", tmp_path / "nothing" / "report.html", status=3).stderr
    assert said.startswith("hone: -o ")
    assert "no such file or directory" in said


def test_damaged_episodes_are_left_out_and_named(journals: tuple[Path, Path], tmp_path: Path) -> None:
    copy, output = tmp_path / "copy.db", tmp_path / "report.html"
    ran("journal", "backup", "--journal", journals[0], "--to", copy)
    database = sqlite3.connect(copy)
    with database:
        database.execute("UPDATE turns SET reward = 77 WHERE turn = 2")
    database.close()
    done = ran("report", copy, "-o", output, "--json", status=1)
    assert f"damaged episodes left out: 1; the first: journal {copy}: it is damaged (episode " in done.stderr
    assert len(done.stderr.splitlines()) == 1
    (report,) = json.loads(done.stdout)["journals"]
    assert (report["damaged"], report["episodes"]["all"]) == (1, 1)
    assert "Damaged episodes left out: 1" in Elements(output.read_text()).text


@contextmanager
def unwritable(folder: Path) -> Iterator[list[str]]:
    """A folder that cannot be written, and the beginning of a command line for which that holds."""
    folder.chmod(0o555)
    try:
        if os.geteuid() != 0:
            yield []
        elif shutil.which("setpriv") is None:
            pytest.skip("as root, this test needs setpriv")
        else:
            yield ["setpriv", "--bounding-set", "-dac_override"]  # root without it needs permissions as others do
    finally:
        folder.chmod(0o755)


def shown_by_view(before: list[str], *arguments: object) -> tuple[int, str]:
    """The number of episodes that `hone view` lists, and what it writes to standard error."""
    command = [*before, os.environ["HONE_BINARY"], "view", *map(str, arguments), "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as view:
        assert view.stdout is not None
        assert view.stderr is not None
        first = view.stdout.readline()
        if not first:
            return -view.wait(timeout=60), view.stderr.read()
        with urllib.request.urlopen(json.loads(first)["url"] + "/api/episodes") as reply:
            episodes = json.load(reply)["episodes"]
        view.terminate()
        return len(episodes), view.stderr.read()


def test_a_journal_that_cannot_be_written_is_read_without_its_log(journals: tuple[Path, Path], tmp_path: Path) -> None:
    folder = tmp_path / "snapshot"
    folder.mkdir()
    copy = folder / "run 1.db"
    shutil.copy(journals[0], copy)
    copy.chmod(0o444)
    log = folder / "run 1.db-wal"
    with unwritable(folder) as before:
        report = [*before, os.environ["HONE_BINARY"], "report", str(copy), "--json"]
        done = subprocess.run(report, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["journals"][0]["episodes"]["all"] == 2
        assert shown_by_view(before, copy) == (2, "")
    assert [one.name for one in folder.iterdir()] == [copy.name]
    log.write_bytes(b"content")
    with unwritable(folder) as before:
        done = subprocess.run(report, capture_output=True, text=True, check=False)
        status, said = shown_by_view(before, copy)
    for stderr in (done.stderr, said):
        assert stderr.startswith(f"hone: journal {copy}: its last changes are in run 1.db-wal")
        assert f"copy {copy} and {log} to such a folder" in stderr
    assert done.returncode == -status == 3


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("unshare") is None, reason="needs root and unshare")
def test_a_journal_on_a_read_only_mount_is_read(journals: tuple[Path, Path], tmp_path: Path) -> None:
    shutil.copy(journals[0], tmp_path / "run.db")
    mount = 'mount --bind -o ro "$1" "$1" && shift && exec "$@"'
    before = ["unshare", "--mount", "sh", "-c", mount, "sh", str(tmp_path)]
    if subprocess.run([*before, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("this machine does not allow mounts")
    assert subprocess.run([*before, "touch", tmp_path / "new"], capture_output=True, check=False).returncode != 0
    report = [*before, os.environ["HONE_BINARY"], "report", str(tmp_path / "run.db"), "--json"]
    done = subprocess.run(report, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["journals"][0]["episodes"]["all"] == 2
    assert shown_by_view(before, tmp_path / "run.db") == (2, "")


def test_the_error_of_a_damaged_file_names_it(journals: tuple[Path, Path], tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.db"
    ran("journal", "backup", "--journal", journals[0], "--to", damaged)
    pages = damaged.read_bytes()
    damaged.write_bytes(pages[:4096] + b"\xff" * (len(pages) - 4096))
    message = f"hone: journal {damaged}: it is damaged (database disk image is malformed)"
    hint = f"; see: hone journal check --journal {damaged}\n"
    for given in ([damaged], [journals[1], damaged]):
        status, viewed = shown_by_view([], *given)
        assert status == -3
        for said in (viewed, ran("report", *given, status=3).stderr):
            assert said.startswith(message)
            assert hint in said
    for command in (["episodes", damaged], ["export", "--journal", damaged]):
        assert ran(*command, status=3).stderr.startswith(message)
    assert "database disk image is malformed" in ran("journal", "check", "--journal", damaged, status=1).stdout


def test_without_a_file_the_totals_are_printed(journals: tuple[Path, Path]) -> None:
    lines = ran("report", *journals).stdout.splitlines()
    assert lines[0].split()[:3] == ["journal", "episodes", "attempts"]
    assert lines[1].split()[:4] == ["before.db", "2", "3", "33"]
    assert lines[3] == "for the full report, add -o report.html"
