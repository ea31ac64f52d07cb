"""Times of the web page in headless Chromium, for `scripts/bench-page`."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hone

from browser import Browser, find_chromium
from servers import RealServer

PAINTED = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
TILE = "[...document.querySelectorAll('.tile')].find(one => one.querySelector('.name').innerText === 'Steps done')"
STEPS = f"Number({TILE}.querySelector('.value').innerText.replace(/[^0-9]/g, ''))"
UPDATES_AT_ONCE = 100
UPDATE = f"""(async () => {{
  const view = liveView(new URLSearchParams());
  for (let i = 0; i < {UPDATES_AT_ONCE}; ++i) await view.refresh();
  return true;
}})()"""
# The page's first reply again and again, 0.8 s and one step later each time: hours of updates in minutes.
REPLAY = """(async () => {
  const first = await get("/api/live"), other = get;
  let passed = 0;
  get = async (path) => {
    if (path !== "/api/live") return other(path);
    const reply = structuredClone(first);
    passed += 1;
    reply.at += 0.8 * passed;
    reply.health.uptime_s += 0.8 * passed;
    reply.metrics.service.steps.done += passed;
    return reply;
  };
})()"""
PAINT_GOAL_MS, LAG_GOAL_MS, GROWTH_GOAL_KB = 300, 1000, 1000


def paints(browser: Browser, url: str, rounds: int) -> list[float]:
    """Milliseconds from the navigation to the first text, without the browser's cache."""
    browser.call("Network.setCacheDisabled", cacheDisabled=True)
    found = []
    for _ in range(rounds):
        browser.open(url, "Live")
        found.append(float(browser.wait(PAINTED)))
    return found


def lags(browser: Browser, server: RealServer, url: str, rounds: int) -> list[float]:
    """Milliseconds from the reply to a step until the page shows the larger number of steps."""
    browser.open(url, "Live")
    found = []
    with hone.connect(server.endpoint, name="trainer") as client:
        episode = client.reset("add_relu").episode
        for number in range(rounds):
            before = browser.value(STEPS)
            episode.step(f"no code {number}")
            replied = time.monotonic()  # the page asks every 0.8 s, at no fixed distance from the step
            browser.wait(f"{STEPS} > {before}")
            found.append(1e3 * (time.monotonic() - replied))
    return found


def growth(browser: Browser, url: str, updates: int, replay: bool) -> tuple[float, float]:
    """The page's memory (kB) before and after these updates of the live view. 500 updates fill its history first."""
    browser.open(url, "Live")
    if replay:
        browser.value(REPLAY)

    def after(count: int) -> float:
        for _ in range(count // UPDATES_AT_ONCE):
            browser.wait(UPDATE)
        browser.call("HeapProfiler.collectGarbage")
        return float(browser.call("Runtime.getHeapUsage")["usedSize"]) / 1e3

    return after(500), after(updates)


def figure(name: str, values: list[float], goal_ms: float) -> dict[str, Any]:
    median, most = statistics.median(values), max(values)
    return {"name": name, "median_ms": round(median), "most_ms": round(most), "goal_ms": goal_ms, "ok": most <= goal_ms}


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench-page")
    parser.add_argument("--hone", default=os.environ.get("HONE_BINARY", "build/release/hone"))
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--updates", type=int, default=3000)
    parser.add_argument("--replay", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    options.updates -= options.updates % UPDATES_AT_ONCE
    program = find_chromium()
    if program is None:
        raise SystemExit("found no Chromium; scripts/setup --browser installs it")
    os.environ["HONE_BINARY"] = options.hone
    figures = []
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        sets = ("--set", f"journal.path={folder / 'run.db'}", "--set", "environment.max_turns=1000")
        server = RealServer(folder / "serve.log", 0, "--web", "0", *sets, quick=False)
        browser = Browser(program, folder / "profile")
        try:
            url = server.announced["web"]
            measures: list[tuple[str, Callable[[], list[float]], float]] = [
                ("first contentful paint", lambda: paints(browser, url, options.rounds), PAINT_GOAL_MS),
                ("a step shows in the live view", lambda: lags(browser, server, url, options.rounds), LAG_GOAL_MS),
            ]
            for name, measure, goal_ms in measures:
                figures.append(figure(name, measure(), goal_ms))
                if not options.json:
                    one = figures[-1]
                    print(f"{name:32} median {one['median_ms']:5} ms, most {one['most_ms']:5} ms, goal {goal_ms} ms")
            before, later = growth(browser, url, options.updates, options.replay)
            kept = {"name": "memory of the page", "before_kb": round(before), "after_kb": round(later)}
            figures.append({**kept, "updates": options.updates, "ok": later - before <= GROWTH_GOAL_KB})
            if not options.json:
                print(f"memory of the page: {before:.0f} kB, after {options.updates} further updates {later:.0f} kB")
        finally:
            browser.close()
            server.stop()
    if options.json:
        print(json.dumps(figures))
    return 0 if all(one["ok"] for one in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
