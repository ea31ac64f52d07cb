"""The web page in a real browser: what it shows of a server and of a journal, and that hostile texts do nothing."""

from __future__ import annotations

import html
import itertools
import json
import os
import random
import re
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import hone
import pytest

from browser import Browser, find_chromium
from servers import RealServer
from test_journal import FAST, WRONG

CHROMIUM = find_chromium()
NO_CHROMIUM = "found no Chromium; scripts/setup --browser installs it"
REQUIRED = bool(os.environ.get("HONE_REQUIRE_BROWSER"))
pytestmark = [pytest.mark.real, pytest.mark.skipif(CHROMIUM is None and not REQUIRED, reason=NO_CHROMIUM)]


@pytest.fixture(scope="module", autouse=True)
def browser_is_found() -> None:
    assert CHROMIUM is not None, NO_CHROMIUM


# Each calls pwn() with its own number where a page runs it. NUMBER is replaced.
PAYLOADS = [
    "<script>pwn(NUMBER)</script>",
    "<ScRiPt>pwn(NUMBER)</sCrIpT>",
    "</script><script>pwn(NUMBER)</script>",
    "<script src=//evil.invalid/NUMBER></script>",
    "<img src=x onerror=pwn(NUMBER)>",
    "<img src=x onerror='pwn(NUMBER)'",
    '"><img src=x onerror=pwn(NUMBER)>',
    "'><img src=x onerror=pwn(NUMBER)>",
    "<img src=//evil.invalid/NUMBER>",
    "<image href=x onerror=pwn(NUMBER)>",
    "<svg onload=pwn(NUMBER)>",
    "<svg><script>pwn(NUMBER)</script></svg>",
    "<svg><animate onbegin=pwn(NUMBER) attributeName=x dur=1s>",
    "<svg><a href='javascript:pwn(NUMBER)'><text y=9>click</text></a></svg>",
    "<svg><use href='data:image/svg+xml,<svg id=x onload=pwn(NUMBER)>#x'></svg>",
    "<math><mtext><mglyph><style></math><img src=x onerror=pwn(NUMBER)>",
    "<body onload=pwn(NUMBER)>",
    "<iframe srcdoc='<script>parent.pwn(NUMBER)</script>'></iframe>",
    "<iframe src='javascript:parent.pwn(NUMBER)'></iframe>",
    "<iframe src=//evil.invalid/NUMBER></iframe>",
    "<object data='javascript:pwn(NUMBER)'></object>",
    "<embed src='javascript:pwn(NUMBER)'>",
    "<a href='javascript:pwn(NUMBER)' id=clicked>click</a>",
    "javascript:pwn(NUMBER)",
    "<input autofocus onfocus=pwn(NUMBER)>",
    "<select autofocus onfocus=pwn(NUMBER)>",
    "<details open ontoggle=pwn(NUMBER)>",
    "<video><source onerror=pwn(NUMBER)></video>",
    "<audio src=x onerror=pwn(NUMBER)>",
    "<style>@import '//evil.invalid/NUMBER';</style>",
    "<link rel=stylesheet href=//evil.invalid/NUMBER>",
    "<meta http-equiv=refresh content='0;url=//evil.invalid/NUMBER'>",
    "<base href=//evil.invalid/NUMBER/>",
    "<form action=//evil.invalid/NUMBER><button>go</button></form>",
    "<template><script>pwn(NUMBER)</script></template>",
    "<noscript><p title='</noscript><img src=x onerror=pwn(NUMBER)>'>",
    "<!--><img src=x onerror=pwn(NUMBER)>-->",
    "<![CDATA[<img src=x onerror=pwn(NUMBER)>]]>",
    "&lt;img src=x onerror=pwn(NUMBER)&gt;",
    "{{constructor.constructor('pwn(NUMBER)')()}}",
    "${pwn(NUMBER)}",
    "';pwn(NUMBER);//",
    '"onmouseover=pwn(NUMBER) x="',
    "__proto__",
    "\u202e<img src=x onerror=pwn(NUMBER)>\u202c",
    "\u001b]8;;//evil.invalid/NUMBER\u0007link\u001b]8;;\u0007",
    "\ufeff<script>pwn(NUMBER)</script>\u200b",
    "style='background:url(//evil.invalid/NUMBER)'",
]
HOSTILE = [payload.replace("NUMBER", str(number)) for number, payload in enumerate(PAYLOADS)]
WATCH = "window.pwned = []; window.pwn = (number) => window.pwned.push(number);"


class Site:
    """A server with a web page, and the episodes that its journal has."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.journal = folder, folder / "run.db"
        sets = ["--set", f"journal.path={self.journal}", "--set", "environment.max_turns=100"]
        self.server = RealServer(folder / "serve.log", 0, "--web", "0", *sets)
        self.url = self.server.announced["web"]
        with hone.connect(self.server.endpoint, name="trainer-a") as client:
            episode = client.reset("add_relu", group="first").episode
            for code in (WRONG, WRONG.replace("x[i] * y[i]", "x[i] - y[i]"), FAST):
                episode.step(code)
            self.episode = episode.id
        with hone.connect(self.server.endpoint, name=HOSTILE[4]) as client:
            episode = client.reset("add_relu", group=HOSTILE[6]).episode
            for payload in HOSTILE:
                episode.step(response=payload)
            episode.step("\n".join(f"#error {payload}" for payload in HOSTILE if payload.isprintable()))
            self.hostile = episode.id


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    made = Site(tmp_path_factory.mktemp("site"))
    yield made
    made.server.stop()


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    assert CHROMIUM is not None
    browser = Browser(CHROMIUM, tmp_path_factory.mktemp("chromium") / "profile")
    browser.call("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
    yield browser
    browser.close()


@pytest.fixture
def browser(chromium: Browser) -> Browser:
    chromium.window(1180, 900, dark=False)
    chromium.call("Page.navigate", url="about:blank")  # the page of the test before asks no more
    chromium.messages.clear()
    chromium.requests.clear()
    chromium.dialogs = 0
    return chromium


def assert_harmless(browser: Browser, url: str) -> None:
    """Nothing ran, nothing complained, and nothing was asked from elsewhere."""
    assert browser.value("window.pwned") == []
    assert browser.dialogs == 0
    assert [one for one in browser.requests if not one.startswith((url, "about:"))] == []
    assert browser.messages == []
    odd = (
        "script:not([src='/app.js']),iframe,object,embed,img,base,template,video,audio,style,meta[http-equiv],[onerror]"
    )
    assert browser.value(f"document.querySelectorAll({json.dumps(odd)}).length") == 0
    links = (
        "[...document.querySelectorAll('a')].map((a) => a.getAttribute('href')).filter((href) => !href.startsWith('#'))"
    )
    assert browser.value(links) == []


def test_the_live_view_follows_the_steps(site: Site, browser: Browser) -> None:
    browser.open(site.url, "Live")
    assert "serving" in browser.text("main")
    tile = "[...document.querySelectorAll('.tile')].find((one) => one.innerText.startsWith('Steps done'))"
    done = f"Number({tile}?.children[1].innerText)"
    before = int(browser.value(done))
    assert before == 4 + len(HOSTILE)
    with hone.connect(site.server.endpoint, name="trainer-live") as client:
        client.reset("add_relu").episode.step("int x = ;")
        browser.wait(f"{done} === {before + 1}")
    browser.wait("document.querySelector('main').innerText.includes('trainer-live')")
    browser.wait("[...document.querySelectorAll('.legend li')].some((li) => li.innerText.includes('build failed'))")
    browser.wait("live.samples.length >= 2 && rate(300) > 0")
    assert browser.value("document.title") == "Live · hone"
    assert_harmless(browser, site.url)


# Notes when each refresh begins and ends (s), and the value of DONE at its end.
NOTED = """(() => {
  const refresh = current.refresh;
  window.refreshes = [];
  current.refresh = async () => {
    const began = performance.now();
    await refresh();
    window.refreshes.push([began / 1e3, performance.now() / 1e3, DONE]);
  };
})()"""


def test_a_step_shows_in_the_live_view_within_two_refreshes(site: Site, browser: Browser) -> None:
    browser.open(site.url, "Live")
    tile = "[...document.querySelectorAll('.tile')].find((one) => one.innerText.startsWith('Steps done'))"
    done = f"Number({tile}.children[1].innerText.replace(/[^0-9]/g, ''))"
    browser.value(NOTED.replace("DONE", done))
    before = browser.value(done)
    with hone.connect(site.server.endpoint, name="trainer-lag") as client:
        episode = client.reset("add_relu").episode
        for number in range(1, 6):
            episode.step(response=f"no code {number}")
            later = f"refreshes.filter(([began]) => began > {browser.value('performance.now() / 1e3')})"
            shows = f"{later}.findIndex(([, , done]) => done === {before + number})"
            browser.wait(f"{shows} >= 0")
            assert browser.value(shows) <= 1
    refreshes = browser.value("refreshes")
    # The page asks again after 0.8 s, or nine times the duration of a refresh. Other work may delay some refreshes.
    late = [
        after[0] - ended - max(0.8, 9 * (ended - began)) for (began, ended, _), after in itertools.pairwise(refreshes)
    ]
    assert min(late) < 0.5, late


def test_tool_calls_with_hostile_arguments_and_feedback_are_texts(site: Site, browser: Browser) -> None:
    printable = [payload for payload in HOSTILE if payload.isprintable()]
    with hone.connect(site.server.endpoint, name="trainer-tools") as client:
        episode = client.reset("add_relu", options={"tools": {"compile": len(printable), "check": 1}}).episode
        said = ""
        for number in range(0, len(printable), 12):
            said += episode.tool("compile", "\n".join(f"#error {one}" for one in printable[number : number + 12])).text
        episode.tool("check", response="\n".join([*HOSTILE, "```cpp", FAST, "```"]))
        episode.step(response="no code")
        episode.tool("compile", f"#error {printable[0]}")  # in the turn that is open
    quoted = [payload for payload in printable if payload in said]
    assert len(quoted) >= 5, "the compiler's messages quote the source"
    browser.open(f"{site.url}/#/episodes/{episode.id}", f"Episode {episode.id}")
    browser.value("document.querySelectorAll('main details').forEach((one) => { one.open = true; })")
    calls = (
        "[...document.querySelectorAll('main details')].filter((one) => one.firstChild.innerText.startsWith('Tool'))"
    )
    shown = browser.value(f"{calls}.map((one) => one.textContent)")
    assert [text.split("{")[0] for text in shown][-2:] == ["Tool check: correct", "Tool compile: build failed"]
    assert len(shown) == 2 + len(range(0, len(printable), 12))
    assert "Turn that is open" in browser.text("main")
    for payload in quoted:
        assert any(payload in text for text in shown), payload
    for payload in printable:
        assert any(json.dumps(payload, ensure_ascii=False)[1:-1] in text for text in shown), "as an argument"
    browser.value(
        "document.querySelectorAll('main *').forEach((one) => one.dispatchEvent(new MouseEvent('mouseover')))"
    )
    assert_harmless(browser, site.url)


# Replies as of a server that has run for a day: fast steps, and slow ones since the second reply.
WINDOW = """(async () => {
  const of = (count, buckets) => ({count, sum: count / 100, buckets});
  const real = await get("/api/live"), other = get;
  let given = real;
  get = async (path) => (path === "/api/live" ? given : other(path));
  const view = liveView(new URLSearchParams()), shown = [];
  current = null; // no other view records replies meanwhile
  for (const [at, uptime_s, step, build] of REPLIES) {
    const evaluator = {...real.metrics.service.evaluator, stage_ms: {build}};
    const service = {...real.metrics.service, evaluator};
    const metrics = {...real.metrics, request_seconds: {step}, service};
    given = {...real, at, health: {...real.health, uptime_s, incarnation: "another server"}, metrics};
    await view.refresh();
    const text = (one) => one.textContent;
    const tile = (name) => [...view.node.querySelectorAll(".tile")].filter((one) => text(one.firstChild) === name);
    const [p50, p99] = ["Step p50", "Step p99"].map((name) => [...tile(name)[0].children].slice(1).map(text));
    const rows = [...view.node.querySelectorAll(".grid tbody tr")].slice(0, 2);
    const cells = rows.map((row) => [...row.cells].map(text));
    const titles = rows.map((row) => row.cells[1].firstChild.title);
    shown.push({p50, p99, rows: cells, titles, said: [...view.node.querySelectorAll(".window")].map(text)});
  }
  get = other;
  return shown;
})()"""


def test_percentiles_and_stage_times_are_those_of_the_last_five_minutes(site: Site, browser: Browser) -> None:
    def of(count: int, total: float, **buckets: int) -> dict[str, Any]:
        return {
            "count": count,
            "sum": total,
            "buckets": {bound[1:].replace("p", "."): n for bound, n in buckets.items()},
        }

    day, builds = of(2000, 20, _0p01=1990, _20=2000), of(1000, 64000, _64=1000)
    slow, slower = of(2100, 220, _0p01=1990, _2=2090, _20=2100), of(1010, 84000, _64=1000, _2048=1010)
    replies = [(0, 200, day, builds), (101, 301, day, builds), (102, 402, day, builds), (390, 690, slow, slower)]
    replies += [(395, 695, slow, slower), (690, 990, slow, slower), (2000, 2300, slow, slower)]
    browser.open(site.url, "Live")
    shown = browser.value(WINDOW.replace("REPLIES", json.dumps(replies)))
    start, first, _, recent, _, quiet, gap = shown
    assert start["said"] == ["since the start of the server"] * 2
    assert start["p50"] == ["\u2264 10 ms", "since the start of the server"]
    assert first["said"] == ["last 101 s"] * 2
    assert first["p50"] == ["\u2013", "last 101 s; since the start \u2264 10 ms"]
    assert first["rows"] == [["build", "0", "\u2013", "\u2013", "\u2013"], ["step", "0", "\u2013", "\u2013", "\u2013"]]
    assert recent["said"] == ["last 5 min"] * 2
    assert recent["p50"] == ["\u2264 2 s", "last 5 min; since the start \u2264 10 ms"]
    assert recent["p99"] == ["\u2264 2 s", "last 5 min; since the start \u2264 2 s"]
    assert recent["rows"] == [["build", "10", "2 s", "2.05 s", "2.05 s"], ["step", "100", "2 s", "2 s", "2 s"]]
    assert recent["titles"] == ["since the start: 1 010", "since the start: 2 100"]
    assert quiet["rows"][1] == ["step", "0", "\u2013", "\u2013", "\u2013"]
    assert gap["said"] == ["since the start of the server"] * 2
    assert browser.messages == []


POINTS = "[...document.querySelectorAll('#over_time svg')].map((one) => one.querySelectorAll('circle').length)"
ATTEMPTS = "Number((document.querySelector('#over_time p')?.innerText.match(/^(\\d+) attempt/) || [])[1])"


def test_means_over_time_follow_a_step_for_all_tasks_and_for_one(site: Site, browser: Browser) -> None:
    browser.open(site.url, "Live")
    tile = "[...document.querySelectorAll('.tile')].find((one) => one.innerText.startsWith('Steps done'))"
    before = int(browser.wait(f"{ATTEMPTS} === Number({tile}?.children[1].innerText) && {ATTEMPTS}"))
    drawn = browser.value(POINTS)
    with hone.connect(site.server.endpoint, name="course") as client:
        client.reset("matmul").episode.step(response="no code")
        browser.wait(f"{ATTEMPTS} === {before + 1}")
        browser.wait(f"{POINTS}[1] >= {drawn[1]}")
    browser.open(site.url, "Live")
    browser.wait("document.querySelectorAll('#over_time option').length === 3")
    browser.value(
        "(() => { const one = document.getElementById('over_time_task'); one.focus(); one.value = 'tasks/matmul';"
        " one.dispatchEvent(new Event('change')); })()"
    )
    browser.wait(f"location.hash === '#/live?task=tasks%2Fmatmul' && {ATTEMPTS} === 1")
    assert browser.value("document.activeElement.id") == "over_time_task", "the keyboard stays where it was"
    assert browser.value(POINTS) == [1], "no turn of this task was timed"
    said = browser.value("document.querySelector('#over_time svg').getAttribute('aria-label')")
    assert said.startswith("Mean reward over time: 1 interval, first 0")
    browser.value("document.querySelector('#over_time details').open = true")
    browser.wait("document.querySelector('#over_time tbody tr') !== null")
    (row,) = browser.value("[...document.querySelectorAll('#over_time tbody tr')].map((one) => one.innerText)")
    assert row.split("\t")[1:] == ["1", "0 %", "\N{EN DASH}", "0"]
    shared = browser.value("location.href")
    browser.open(shared, "Live")
    browser.wait(f"{ATTEMPTS} === 1")
    browser.go(f"#/live?task={HOSTILE[0]}", "Live")
    browser.wait("document.querySelector('#over_time p').innerText.startsWith('No scored turn of <script>')")
    assert_harmless(browser, site.url)


def test_a_task_has_the_interval_of_its_best_speedup(site: Site, browser: Browser) -> None:
    browser.open(f"{site.url}/#/episodes/{site.episode}", f"Episode {site.episode}")
    (best,) = browser.value(
        "[...document.querySelectorAll('.speed > span:nth-child(2)')].map((one) => one.textContent)"
    )
    interval = best.split(" (95 %)")[0]
    browser.open(f"{site.url}/#/tasks", "Tasks")
    assert interval in browser.text("main .tiles")
    assert interval in browser.text("main tbody")
    heads = browser.value("[...document.querySelectorAll('th')].map((one) => one.textContent)")
    assert heads[4:9] == ["Success", "fast_1", "fast_1.5", "fast_2", "fast_5"]


def test_a_task_links_to_its_means_over_time(site: Site, browser: Browser) -> None:
    browser.open(f"{site.url}/#/tasks", "Tasks")
    row = "[...document.querySelectorAll('main tbody tr')].find((one) => one.innerText.includes('tasks/add_relu'))"
    name = browser.value(f"{row}.querySelector('td:last-child a').title")
    assert name == "Speedup and reward of tasks/add_relu over time"
    attempts = int(browser.value(f"{row}.querySelector('td:nth-child(3)').innerText"))
    browser.value(f"{row}.querySelector('td:last-child a').click()")
    browser.wait(f"location.hash === '#/tasks?task=tasks%2Fadd_relu' && {ATTEMPTS} === {attempts}")
    assert browser.value("document.getElementById('over_time_task').value") == "tasks/add_relu"
    assert all(points >= 1 for points in browser.value(POINTS))
    assert_harmless(browser, site.url)


def test_slash_focuses_the_search_of_every_view(site: Site, browser: Browser) -> None:
    press = "document.dispatchEvent(new KeyboardEvent('keydown', {key: '/', bubbles: true, cancelable: true}))"
    for view, ready in (("tasks", "Tasks"), ("episodes", "Episodes")):
        browser.open(f"{site.url}/#/{view}", ready)
        assert browser.value(press) is False, "the browser's own search stays closed"
        assert browser.value("document.activeElement.type") == "search"
        assert browser.value(f"location.hash === '#/{view}'")
    # A view without a search: that of the episodes.
    for view, ready in (
        ("live", "Live"),
        ("compare", "Compare"),
        (f"episodes/{site.episode}", f"Episode {site.episode}"),
    ):
        browser.open(f"{site.url}/#/{view}", ready)
        assert browser.value(press) is False
        browser.wait("location.hash === '#/episodes' && document.activeElement.id === 'search'")
    browser.go("#/tasks", "Tasks")
    assert browser.value("document.activeElement.type") != "search", "only the key focuses a search"


def test_search_and_links_find_episodes(site: Site, browser: Browser) -> None:
    browser.open(site.url + "/#/tasks", "Tasks")
    assert "tasks/add_relu" in browser.text("main")
    browser.value("document.querySelector('main td a').click()")
    browser.wait("document.documentElement.dataset.ready === 'Episodes'")
    assert browser.value("location.hash") == "#/episodes?task=tasks%2Fadd_relu"
    browser.open(site.url + "/#/episodes", "Episodes")
    names = "[...document.querySelectorAll('td:first-child a')].map((a) => a.innerText)"
    assert {site.episode, site.hostile} <= set(browser.value(names))
    browser.value("document.dispatchEvent(new KeyboardEvent('keydown', {key: '/', bubbles: true, cancelable: true}))")
    assert browser.value("document.activeElement.id") == "search"
    browser.value("document.activeElement.value = 'TRAINER-A', document.querySelector('form').requestSubmit()")
    browser.wait(f"JSON.stringify({names}) === {json.dumps(json.dumps([site.episode]))}")
    assert browser.value("document.activeElement.id") == "search", "one can go on typing"
    shared = browser.value("location.href")
    browser.open(shared, "Episodes")
    assert browser.value(names) == [site.episode]
    browser.go("#/episodes?outcome=cheated", "Episodes")
    browser.wait("document.querySelector('main').innerText.includes('No episode matches.')")
    browser.go("#/episodes?outcome=foo", "error")
    assert "outcome: found 'foo', expected one of no_code" in browser.text("#notice")
    browser.go("#/episodes?task=add_relu&search=trainer-a", "Episodes")
    browser.wait(f"JSON.stringify({names}) === {json.dumps(json.dumps([site.episode]))}")
    browser.messages.clear()  # Chromium reports the status 400
    browser.go("#/episodes?outcome=wrong", "Episodes")
    browser.wait(f"JSON.stringify({names}) === {json.dumps(json.dumps([site.episode]))}")
    assert_harmless(browser, site.url)


def test_two_clients_are_compared_by_task(site: Site, browser: Browser) -> None:
    browser.open(f"{site.url}/#/compare", "Compare")
    assert_harmless(browser, site.url)
    browser.value(
        "(() => { const one = document.getElementById('a_client'); one.value = 'trainer-a';"
        " one.dispatchEvent(new Event('change')); })()"
    )
    browser.wait("location.hash.includes('a_client=trainer-a') && document.documentElement.dataset.ready === 'Compare'")
    shared = browser.value(
        f"link('compare', {{a_client: 'trainer-a', b_client: {json.dumps(HOSTILE[4])}, by: 'success'}})"
    )
    browser.open(site.url + "/" + shared, "Compare")
    cells = "[...document.querySelectorAll('tbody td')].map((td) => td.textContent)"
    task, difference, _, episodes, attempts, _, _, correct, *_ = browser.value(cells)
    assert task == "tasks/add_relu"
    assert difference == "\u221233.3 points", "one of three attempts is correct, and none of the hostile ones"
    assert (episodes, attempts, correct) == ("11", f"3{len(HOSTILE) + 1}", "33 %0 %")
    assert browser.value("document.getElementById('b_client').value") == HOSTILE[4]
    assert "B is higher in 0 and lower in 1" in browser.text("main")
    assert_harmless(browser, site.url)
    browser.open(f"{site.url}/#/compare?a_client=zz&a_reward=none&b_client=trainer-a", "Compare")
    assert "A: there is no episode of client zz and reward none." in browser.text("main")
    assert "B: there" not in browser.text("main")
    assert "B is higher" not in browser.text("main")
    unknown = {"a_client": HOSTILE[6], "b_reward": HOSTILE[1], "by": "__proto__"}
    hostile = f"link('compare', {json.dumps(unknown)})"
    browser.open(f"{site.url}/{browser.value(hostile)}", "Compare")
    assert "No task in either set." in browser.text("main")
    assert_harmless(browser, site.url)


def test_an_episode_has_its_prompt_differences_intervals_and_feedback(site: Site, browser: Browser) -> None:
    browser.open(f"{site.url}/#/episodes/{site.episode}?turn=2", f"Episode {site.episode}")
    assert browser.value("document.activeElement.dataset.turn") == "2", "the link's turn is chosen"
    lines = "[...document.querySelectorAll('#turn-2 .ln.%s')].map((line) => line.innerText.trim())"
    (removed,), (added,) = browser.value(lines % "del"), browser.value(lines % "add")
    assert removed.endswith("const float v = x[i] * y[i];")
    assert added.endswith("const float v = x[i] - y[i];")
    assert "unchanged line" in browser.text("#turn-2 .code")
    browser.value("document.querySelector('#turn-2 .fold').click()")
    assert "#include <cstdint>" in browser.text("#turn-2 .code")
    browser.value("document.querySelectorAll('#turn-2 .bar-of-code button')[1].click()")
    assert browser.value("document.querySelectorAll('#turn-2 .ln.del').length") == 0
    text = browser.text("main")
    assert "wrong" in browser.text("#turn-1 h2")
    assert "correct" in browser.text("#turn-3 h2")
    assert "Your kernel compiled and ran, but its results are wrong" in text
    assert "return to date" in text
    assert "trainer-a" in text
    assert "first" in text
    drawn = browser.value("document.querySelector('#turn-3 .speed svg').getAttribute('aria-label')")
    assert drawn.startswith("speedup ")
    assert "95 % interval" in drawn
    low, value, high = browser.value(
        "(() => { const [line, dot] = ['.range', '.dot'].map((one) => document.querySelector(`#turn-3 .speed ${one}`));"
        "return [line.getAttribute('x1'), dot.getAttribute('cx'), line.getAttribute('x2')].map(Number); })()"
    )
    assert low <= value <= high
    assert browser.value("document.querySelectorAll('.course .dot').length") == 1
    labels = browser.value("[...document.querySelectorAll('.course .label')].map((one) => one.textContent)")
    assert "not correct" in labels
    assert any(float(one[:-1]) > 1 for one in labels if one.endswith("\N{MULTIPLICATION SIGN}"))
    axis, *crosses = browser.value(
        "[document.querySelector('.course .solid').getBoundingClientRect().top,"
        " ...[...document.querySelectorAll('.course .cross')].map((one) => one.getBoundingClientRect().top)]"
    )
    assert len(crosses) == 2
    assert min(crosses) > axis
    browser.value("document.querySelector('summary').click()")
    assert "Add two vectors and clamp the sum at zero" in browser.text("main")
    browser.value("document.querySelector('#turn-2').focus()")
    browser.value("document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: 'j', bubbles: true}))")
    assert browser.value("document.activeElement.dataset.turn") == "3"
    assert_harmless(browser, site.url)


def test_a_diff_turns_one_text_into_the_other(site: Site, browser: Browser) -> None:
    browser.open(site.url, "Live")
    seed = random.randrange(1 << 30)
    made = random.Random(seed)
    pairs: list[tuple[list[str], list[str]]] = [
        ([], []),
        (["a"], []),
        ([], ["a"]),
        (list("ab") * 700, list("cd") * 700),
    ]
    for _ in range(300):
        a = [made.choice("abcd") for _ in range(made.randrange(30))]
        b = [made.choice("abcd") for _ in range(made.randrange(30))] if made.random() < 0.3 else list(a)
        for _ in range(made.randrange(4)):
            b[made.randrange(len(b) + 1) :][:1] = [made.choice("abx")]
            b.insert(made.randrange(len(b) + 1), made.choice("abx"))
            del b[made.randrange(len(b))]
        pairs.append((a, b))
    diffs = browser.value(f"{json.dumps(pairs)}.map(([a, b]) => diffLines(a, b))")
    for (a, b), rows in zip(pairs, diffs, strict=False):
        assert [text for sign, text in rows if sign != "+"] == a, seed
        assert [text for sign, text in rows if sign != "-"] == b, seed
    (kept,) = (
        [sign for sign, _ in browser.value(f"diffLines({json.dumps(list('abcabba'))}, {json.dumps(list('cbabac'))})")],
    )
    assert kept.count("+") + kept.count("-") == 5, "the shortest"


def test_hostile_texts_are_shown_and_do_nothing(site: Site, browser: Browser) -> None:
    assert len(HOSTILE) >= 30
    for view, ready in (("live", "Live"), ("tasks", "Tasks"), ("compare", "Compare"), ("episodes", "Episodes")):
        browser.open(f"{site.url}/#/{view}", ready)
        assert_harmless(browser, site.url)
    assert HOSTILE[4] in browser.text("main")  # a client's name
    browser.open(f"{site.url}/#/episodes/{site.hostile}", f"Episode {site.hostile}")
    browser.value("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    browser.value("document.querySelectorAll('.fold').forEach((one) => one.click())")
    shown = browser.text("main")
    lines = "[...turn.querySelectorAll('.ln:not(.del) span')].map((line) => line.innerText)"
    turns = browser.value(f"[...document.querySelectorAll('.turn')].map((turn) => {lines}.join('\\n'))")
    assert len(turns) == len(HOSTILE) + 1
    for number, payload in enumerate(HOSTILE):
        wanted = browser.value(f"visible({json.dumps(payload)})")
        assert wanted == payload or "⟨U+" in wanted
        assert turns[number] == wanted
        if payload.isprintable():
            assert f"#error {payload}" in turns[-1]
    compiler = [line for line in shown.splitlines() if "error: #error" in line]
    assert len(compiler) >= 30, "the compiler's output has them, too"
    assert "⟨U+202E⟩" in shown
    assert "\u202e" not in shown
    assert "⟨U+001B⟩" in shown
    assert "\x1b" not in shown
    browser.value("document.querySelectorAll('.turn a, .turn button, .turn summary').forEach((one) => one.click())")
    assert_harmless(browser, site.url)


def test_hostile_links_do_nothing(site: Site, browser: Browser) -> None:
    browser.open(f"{site.url}/#/episodes", "Episodes")
    gone = "delete document.documentElement.dataset.ready"
    for payload in HOSTILE:
        text = json.dumps(payload)
        for target in (
            f"link('episodes', {{search: {text}, task: {text}, client: {text}}})",
            f"link('episodes', {{after: {text}, group: {text}}})",
            f"'#/episodes/' + {text}",
        ):
            browser.value(f"{gone}, location.hash = {target}, 0")
            browser.wait("document.documentElement.dataset.ready")
    assert browser.value("window.pwned") == []
    assert browser.dialogs == 0
    assert [one for one in browser.requests if not one.startswith((site.url, "about:"))] == []


def test_the_watch_notices_what_runs(browser: Browser) -> None:
    """Without hone's headers and with innerHTML, payloads do run and are counted."""
    browser.call("Page.navigate", url="about:blank")
    browser.wait("Array.isArray(window.pwned)")
    browser.value(f"document.body.innerHTML = {json.dumps(''.join(HOSTILE[4:13]))}, 0")
    browser.wait("window.pwned.length >= 2")
    browser.wait("document.images.length > 0")


def test_the_headers_forbid_what_the_script_never_does(site: Site, browser: Browser) -> None:
    browser.open(site.url, "Live")
    attempts = {
        "document.body.innerHTML = '<p>x</p>'": "TypeError",
        "new DOMParser().parseFromString('<p>x</p>', 'text/html')": "TypeError",
        "window.eval('1')": "EvalError",
        "new Function('return 1')": "EvalError",
    }
    for attempt, error in attempts.items():
        # From a timer, because the protocol's own evaluation is exempt from the policy.
        caught = f"try {{ {attempt}; window.result = 'ran'; }} catch (error) {{ window.result = error.name; }}"
        browser.value(f"window.result = '', setTimeout(() => {{ {caught} }}), 0")
        assert browser.wait("window.result") == error, attempt
    browser.value(
        "(() => { const s = document.createElement('img'); s.src = '//evil.invalid/x'; document.body.append(s); })()"
    )
    browser.wait("document.images[0].complete")
    assert any("Content Security Policy" in one for one in browser.messages), browser.messages


@pytest.mark.parametrize(("width", "dark"), [(320, True), (390, False), (1180, True)])
def test_a_window_of_any_width_has_no_horizontal_overflow(site: Site, browser: Browser, width: int, dark: bool) -> None:
    browser.window(width, 800, dark)
    episodes = [(f"episodes/{one}", f"Episode {one}") for one in (site.episode, site.hostile)]
    for view, ready in [
        ("live", "Live"),
        ("tasks", "Tasks"),
        ("compare", "Compare"),
        ("episodes", "Episodes"),
        *episodes,
    ]:
        browser.open(f"{site.url}/#/{view}", ready)
        browser.value("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        assert browser.value("document.documentElement.scrollWidth") <= width, view
        back, front = browser.value(
            "((css) => [css.backgroundColor, css.color].map((colour) => colour.match(/\\d+/g).slice(0, 3)"
            ".reduce((a, b) => a + Number(b), 0)))(getComputedStyle(document.body))"
        )
        assert (back < front) == dark, "light on dark, or dark on light"


def test_a_report_is_read_from_its_file_and_runs_nothing(site: Site, browser: Browser, tmp_path: Path) -> None:
    output, copy = tmp_path / "report.html", tmp_path / "copy.db"
    backup = ["journal", "backup", "--journal", site.journal, "--to", copy]
    for command in (backup, ["report", site.journal, copy, "-o", output]):
        subprocess.run([os.environ["HONE_BINARY"], *command], check=True)
    url = output.as_uri()
    for width, dark in ((320, True), (390, False), (1180, True)):
        browser.window(width, 800, dark)
        browser.call("Page.navigate", url="about:blank")
        browser.call("Page.navigate", url=url)
        browser.wait("document.readyState === 'complete' && document.querySelectorAll('svg.chart').length === 6")
        assert browser.value("document.documentElement.scrollWidth") <= width
        back, front = browser.value(
            "((css) => [css.backgroundColor, css.color].map((colour) => colour.match(/\\d+/g).slice(0, 3)"
            ".reduce((a, b) => a + Number(b), 0)))(getComputedStyle(document.body))"
        )
        assert (back < front) == dark, "its own style is allowed by its policy"
        assert HOSTILE[4] in browser.text("main")
    assert browser.value("window.pwned") == []
    assert browser.dialogs == 0
    assert [one for one in browser.requests if one not in (url, "about:blank")] == []
    assert browser.messages == []
    assert browser.value("document.querySelectorAll('script,img,iframe,link,[onerror],[href],[src]').length") == 0
    browser.value("document.body.append(Object.assign(document.createElement('img'), {src: '//evil.invalid/x'})), 0")
    browser.wait("document.images[0].complete")
    assert any("Content Security Policy" in one for one in browser.messages), browser.messages


def test_a_report_without_escapes_and_policy_would_run_payloads(site: Site, browser: Browser, tmp_path: Path) -> None:
    """Each of the two defences suffices for these payloads, and without both they run."""
    output = tmp_path / "report.html"
    subprocess.run([os.environ["HONE_BINARY"], "report", site.journal, "-o", output], check=True)
    unescaped = html.unescape(output.read_text())
    policy = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
    assert len(policy.findall(unescaped)) == 1
    for text, runs in ((output.read_text(), False), (unescaped, False), (policy.sub("", unescaped), True)):
        output.write_text(text)
        browser.call("Page.navigate", url="about:blank")
        browser.call("Page.navigate", url=output.as_uri())
        browser.wait("document.readyState === 'complete' && document.querySelector('svg.chart') !== null")
        if runs:
            browser.wait("window.pwned.length > 0")
        assert (browser.value("window.pwned") != []) == runs


def test_hidden_characters_are_shown_in_a_report_as_on_the_page(site: Site, browser: Browser, tmp_path: Path) -> None:
    """hone's list of hidden characters is the browser's."""
    browser.open(site.url, "Live")
    points = [*range(0x20000), *range(0xE0000, 0xE1010)]
    wanted = browser.value(
        "[...Array(0x20000).keys(), ...[...Array(0x1010).keys()].map((n) => n + 0xe0000)]"
        ".filter((n) => n < 0xd800 || n > 0xdfff).filter((n) => visible(String.fromCodePoint(n)).startsWith('⟨U+'))"
    )
    source = (Path(__file__).parents[2] / "core/web/html_text.cpp").read_text()
    table = source[source.index("kHidden[] = {") : source.index("};", source.index("kHidden[] = {"))]
    ranges = [(int(a, 16), int(b, 16)) for a, b in re.findall(r"\{(0x[0-9a-f]+), (0x[0-9a-f]+)\}", table)]
    assert [n for n in points if any(a <= n <= b for a, b in ranges)] == wanted


@contextmanager
def viewing(*arguments: object) -> Iterator[str]:
    """The address of `hone view`."""
    command = [os.environ["HONE_BINARY"], "view", *map(str, arguments), "--port", "0", "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield json.loads(process.stdout.readline())["url"]
    finally:
        process.terminate()
        process.communicate(timeout=60)


def test_a_token_is_asked_for_once_and_leaves_no_trace(site: Site, browser: Browser, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("a-token-of-this-test\n")
    token.chmod(0o600)
    with viewing(site.journal, "--token-file", token) as url:
        browser.call("Page.navigate", url=f"{url}/#/episodes/{site.episode}")
        for given, then in (("wrong-token-of-a-test", "not the token"), ("a-token-of-this-test", "trainer-a")):
            browser.wait("document.querySelector('input[type=password]') !== null")
            browser.value(f"document.querySelector('input[type=password]').value = '{given}'")
            browser.value("document.querySelector('form').requestSubmit()")
            browser.wait(f"document.querySelector('main').innerText.includes('{then}')")
        assert browser.value("document.cookie") == "", "no script reads it"
        assert "token-of" not in browser.value("location.href + JSON.stringify({...localStorage, ...sessionStorage})")
        browser.open(f"{url}/#/tasks", "Tasks")  # another load needs no token
        browser.call("Network.clearBrowserCookies")
        browser.open(f"{url}/?token=a-token-of-this-test#/episodes", "Episodes")
        assert browser.value("location.href") == f"{url}/#/episodes"


def test_a_journal_without_a_server_is_shown_and_its_damage_named(site: Site, browser: Browser, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    subprocess.run(
        [os.environ["HONE_BINARY"], "journal", "backup", "--journal", site.journal, "--to", copy], check=True
    )
    database = sqlite3.connect(copy)
    with database:
        number = int(site.episode, 16)
        number -= (number >> 63) << 64
        assert database.execute("UPDATE turns SET reward = 77 WHERE episode = ? AND turn = 2", [number]).rowcount == 1
    database.close()
    with viewing(copy) as url:
        browser.open(url, "Tasks")
        assert browser.value("[...document.querySelectorAll('nav a')].map((a) => a.innerText)") == [
            "Tasks",
            "Episodes",
            "Compare",
        ]
        browser.open(f"{url}/#/episodes/{site.hostile}", f"Episode {site.hostile}")
        assert_harmless(browser, url)
        browser.open(f"{url}/#/episodes/{site.episode}", "error")
        notice = browser.text("#notice")
        assert f"it is damaged (episode {site.episode}, turn 2 does not match its checksum)" in notice
        for none in ("0123456789abcdef", "0000000000000000"):
            browser.open(f"{url}/#/episodes/{none}", "error")
            assert f"the journal has no episode {none}" in browser.text("#notice")
            assert "Loading" not in browser.text("main")
        browser.go("#/live", "No server")
        assert "a journal without a server" in browser.text("main")
        browser.go("#/tasks?journal=zz", "error")
        assert "journal: found 'zz'" in browser.text("#notice")
        assert "No task" not in browser.text("main")
        browser.go("#/episodes", "Episodes")
        assert browser.value("document.getElementById('notice').hidden")


def test_pages_of_a_list_are_linked(site: Site, browser: Browser) -> None:
    with hone.connect(site.server.endpoint, name="many") as client:
        for _ in range(60):
            client.reset("add_relu", group="pages")
    rows: list[Any] = []
    browser.open(f"{site.url}/#/episodes?group=pages", "Episodes")
    names = "[...document.querySelectorAll('td:first-child a')].map((a) => a.innerText)"
    rows += browser.value(names)
    assert len(rows) == 50
    browser.value("delete document.documentElement.dataset.ready, document.querySelector('.pager a').click()")
    browser.wait("document.documentElement.dataset.ready === 'Episodes'")
    rows += browser.value(names)
    assert len(set(rows)) == 60
    browser.value("document.querySelector('.pager a').click()")
    browser.wait(f"JSON.stringify({names}) === {json.dumps(json.dumps(rows[:50], separators=(',', ':')))}")


def test_two_journals_are_compared_and_their_episodes_linked(site: Site, browser: Browser, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    settings = [f"journal.path={other}", "environment.max_turns=2", "environment.stop_reward=null"]
    server = RealServer(tmp_path / "serve.log", 0, *(word for one in settings for word in ("--set", one)))
    with hone.connect(server.endpoint, name="trainer-b") as client:
        episode = client.reset("add_relu").episode
        last = [episode.step(WRONG), episode.step(WRONG)][-1]
    server.stop()
    with viewing(site.journal, other) as url:
        chosen = "['a', 'b'].map((side) => document.getElementById(`${side}_journal`).value)"
        browser.open(f"{url}/#/compare", "Compare")
        assert browser.value(chosen) == ["run.db", "other.db"]
        change = "(() => { const one = document.getElementById('a_client'); one.value = 'trainer-a';"
        browser.value(change + " one.dispatchEvent(new Event('change')); })()")
        browser.wait(
            "location.hash.includes('b_journal=other.db') && document.documentElement.dataset.ready === 'Compare'"
        )
        browser.open(f"{url}/#/compare?a_client=trainer-a&by=success", "Compare")
        assert browser.value(chosen) == ["run.db", "other.db"]
        cells = "[...document.querySelectorAll('tbody td')].map((td) => td.textContent)"
        task, difference, _, _, attempts, _, returns, correct, *_ = browser.value(cells)
        assert (task, difference, attempts, correct) == ("tasks/add_relu", "\u221233.3 points", "32", "33 %0 %")
        assert returns == "\u2013" + browser.value(f"figure({last.returns[0]})"), "A's episode has not ended"
        options = "[...document.getElementById('b_client').options].map((one) => one.value)"
        assert browser.value(options) == ["", "trainer-b"], "the names are those of the chosen journal"
        browser.value("document.querySelector('td a').click()")
        browser.wait("document.documentElement.dataset.ready === 'Episodes'")
        names = "[...document.querySelectorAll('td:first-child a')].map((a) => a.innerText)"
        assert browser.value(names) == [episode.id]
        browser.value("document.querySelector('td:first-child a').click()")
        browser.wait(f"document.documentElement.dataset.ready === 'Episode {episode.id}'")
        assert "trainer-b" in browser.text("main")
        browser.open(f"{url}/#/tasks?journal=other.db", "Tasks")
        assert browser.value("document.querySelector('tbody td:nth-child(3)').textContent") == "2"
        assert browser.value("document.getElementById('journal').value") == "other.db"
        browser.wait(f"{ATTEMPTS} === 2")
        browser.open(f"{url}/#/tasks?journal=other.db&task=none", "Tasks")
        browser.wait("document.querySelector('#over_time p').innerText === 'No scored turn of none yet.'")
        browser.open(f"{url}/#/episodes/{site.episode}", f"Episode {site.episode}")
        assert_harmless(browser, url)
        browser.open(f"{url}/#/episodes?journal={HOSTILE[43]}", "error")
        assert "expected one of run.db, other.db" in browser.text("#notice")
        assert browser.value(names) == []


def test_without_a_journal_only_the_live_view_is_offered(browser: Browser, tmp_path: Path) -> None:
    server = RealServer(tmp_path / "serve.log", 0, "--web", "0")
    try:
        url = server.announced["web"]
        browser.open(url, "Live")
        assert browser.value("[...document.querySelectorAll('nav a')].map((a) => a.innerText)") == ["Live"]
        assert "this process has no journal" in browser.text("footer")
        browser.go("#/tasks", "No episodes")
        assert "this process has no journal" in browser.text("main")
        assert_harmless(browser, url)
    finally:
        server.stop()


def test_a_table_that_is_wider_than_the_window_scrolls_in_its_box(site: Site, browser: Browser) -> None:
    for width in (320, 400):
        browser.window(width, 800, dark=False)
        browser.open(f"{site.url}/#/tasks", "Tasks")
        box, table, end = browser.value(
            "(() => { const box = document.querySelector('main div.table'); box.scrollLeft = 1e4;"
            " const last = [...box.querySelectorAll('th')].filter((th) => th.offsetWidth).at(-1);"
            " const [inner, cell] = [box, last].map((one) => one.getBoundingClientRect().right);"
            " return [inner, cell, document.documentElement.scrollWidth]; })()"
        )
        assert table <= box + 1, "its last column can be reached"
        assert end <= width
