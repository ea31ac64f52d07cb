"""hone serve --web and hone view: the web page, metrics and health over HTTP, from a process of their own."""

import json
import os
import re
import select
import signal
import sqlite3
import subprocess
import tempfile
import unittest
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cli_test import HONE, hone

FREE = ["--endpoint", "tcp://127.0.0.1:0", "--control", "tcp://127.0.0.1:0"]
TOKEN = "a-token-of-this-test"


def get(url: str, headers: dict[str, str] | None = None, method: str = "GET") -> tuple[int, str]:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers or {}, method=method)) as reply:
            return reply.status, reply.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


class Server:
    """`hone serve` on free ports, ready once made. Its log is in a file."""

    def __init__(self, folder: Path, *arguments: str, endpoints: Sequence[str] = FREE) -> None:
        self.log = folder / "serve.log"
        with self.log.open("ab") as log:
            command = [HONE, "serve", "--json", *endpoints, *arguments]
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.log.read_text()
        self.said: dict[str, Any] = json.loads(line)

    def get(self, path: str, token: str = "") -> tuple[int, str]:
        return get(self.said["web"] + path, {"Authorization": f"Bearer {token}"} if token else {})

    def children(self) -> list[int]:
        found = []
        for path in Path(f"/proc/{self.process.pid}/task").glob("*/children"):
            found += [int(pid) for pid in path.read_text().split()]
        return [pid for pid in found if b"web\0" in Path(f"/proc/{pid}/cmdline").read_bytes()]

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
        self.process.communicate(timeout=60)


SAMPLE = re.compile(r'([a-z_]+)((?:\{(?:[a-z]+="(?:[^"\\]|\\.)*",?)+\})?) (\S+)$')


def families(text: str) -> dict[str, tuple[str, dict[str, float]]]:
    """Type and samples of each metric; asserts the form of Prometheus' text format 0.0.4."""
    found: dict[str, tuple[str, dict[str, float]]] = {}
    name = ""
    lines = text.split("\n")
    assert lines.pop() == ""
    for number, line in enumerate(lines):
        if line.startswith("# HELP "):
            name = line.split()[2]
            assert name not in found, f"{name} has two families"
            assert lines[number + 1].startswith(f"# TYPE {name} "), line
        elif line.startswith("# TYPE "):
            found[name] = (line.split()[3], {})
        else:
            sample = SAMPLE.match(line)
            assert sample, line
            kind, samples = found[name]
            ends = ("_bucket", "_sum", "_count") if kind == "histogram" else ("",)
            assert sample[1] in [name + end for end in ends], line
            assert sample[1] + sample[2] not in samples, line
            samples[sample[1] + sample[2]] = float(sample[3])
    return found


class Web(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.here = Path(folder.name)

    def serve(self, *arguments: str) -> Server:
        server = Server(self.here, *arguments)
        self.addCleanup(server.stop)
        return server

    def test_metrics_follow_the_conventions(self) -> None:
        server = self.serve("--web", "0")
        status, text = server.get("/metrics")
        self.assertEqual(status, 200)
        found = families(text)
        self.assertEqual(found["hone_up"][1]["hone_up"], 1)
        self.assertEqual(found["hone_draining"][1]["hone_draining"], 0)
        self.assertEqual(found["hone_episodes_open"], ("gauge", {"hone_episodes_open": 0}))
        for name, (kind, samples) in found.items():
            self.assertTrue(samples, name)
            self.assertRegex(name, r"^hone_[a-z_]+$")
            self.assertEqual(name.endswith("_total"), kind == "counter", name)
            self.assertNotRegex(name, r"_(ms|s|us)(_|$)", "units are base units, written out")
            self.assertNotIn("service", name)
        # hone metrics has the names of 0.2 as well.
        old = families(hone("metrics", "--endpoint", server.said["control"], "--prometheus").stdout)
        self.assertLessEqual(found.keys(), old.keys())
        self.assertIn("hone_uptime_s", old)
        self.assertIn("hone_service_episodes_open", old)

    def test_health_and_readiness(self) -> None:
        server = self.serve("--web", "0")
        self.assertEqual(server.get("/healthz"), (200, '{"status":"ok"}'))
        self.assertEqual(server.get("/readyz"), (200, '{"status":"serving","problems":[]}'))
        self.assertEqual(server.get("/nothing")[0], 404)

    def test_the_page_comes_with_headers_that_forbid_all_but_its_own_files(self) -> None:
        server = self.serve("--web", "0")
        for path, kind in (("/", "text/html"), ("/app.js", "text/javascript"), ("/style.css", "text/css")):
            with urllib.request.urlopen(server.said["web"] + path) as reply:
                self.assertTrue(reply.headers["Content-Type"].startswith(kind), path)
                policy = reply.headers["Content-Security-Policy"].split("; ")
                self.assertIn("default-src 'none'", policy)
                self.assertIn("script-src 'self'", policy)
                self.assertIn("style-src 'self'", policy)
                self.assertNotIn("unsafe", reply.headers["Content-Security-Policy"])
                self.assertEqual(reply.headers["X-Content-Type-Options"], "nosniff")
                text = reply.read().decode()
            self.assertNotRegex(text, r"https?://(?!www\.w3\.org/2000/svg)", "nothing comes from elsewhere")
        self.check_the_api(server)

    def check_the_api(self, server: Server) -> None:
        about = json.loads(server.get("/api/about")[1])
        self.assertEqual((about["live"], about["journal"]), (True, None))
        self.assertIn("--set journal.path=FILE", about["no_episodes"])
        outcomes = [one["name"] for one in about["outcomes"]]
        self.assertEqual((outcomes[0], outcomes[-1], len(outcomes)), ("correct", "no_code", len(set(outcomes))))
        self.assertTrue(all(one["meaning"] for one in about["outcomes"]))
        for path in ("/api/tasks", "/api/episodes", "/api/episodes/0123456789abcdef"):
            self.assertEqual(
                server.get(path), (404, json.dumps({"detail": about["no_episodes"]}).replace(": ", ":", 1))
            )
        live = json.loads(server.get("/api/live")[1])
        self.assertEqual(live["health"]["status"], "serving")
        self.assertEqual(live["metrics"]["service"]["steps"]["done"], 0)
        self.assertEqual(get(server.said["web"] + "/api/live", method="POST")[0], 405)
        self.assertEqual(get(server.said["web"] + "/api/live", {"Host": "rebound.example"})[0], 403)

    def test_a_journal_is_shown_with_its_server_and_without(self) -> None:
        journal = self.here / "run.db"
        server = self.serve("--web", "0", "--set", f"journal.path={journal}")
        self.assertEqual(json.loads(server.get("/api/about")[1])["journal"], "run.db")
        self.assertEqual(server.get("/api/episodes"), (200, '{"episodes":[],"next":null}'))
        self.assertEqual(json.loads(server.get("/api/tasks")[1])["tasks"], [])
        self.assertEqual(server.get("/api/names"), (200, '{"clients":[],"rewards":[],"tasks":[]}'))
        self.assertEqual(json.loads(server.get("/api/tasks?client=x&reward=y")[1])["tasks"], [])
        self.assertEqual(server.get("/api/tasks?client=" + "a" * 300)[0], 400)
        for query, said in (
            ("limit=0", "limit: found '0', expected an integer from 1 to 200"),
            ("limit=1e3", "limit: found '1e3', expected an integer from 1 to 200"),
            ("state=lost", "state: found 'lost', expected open, ended, closed or reaped"),
            ("after=1_2_3", "after: found '1_2_3', expected 'next' of an earlier page"),
            ("search=" + "a" * 300, "search: found 300 characters, expected at most 256"),
        ):
            self.assertEqual(
                server.get(f"/api/episodes?{query}"), (400, json.dumps({"detail": said}).replace(": ", ":", 1))
            )
        self.assertEqual(server.get("/api/episodes/0123456789abcdef")[0], 404)
        self.assertEqual(server.get("/api/episodes/..%2f..%2fetc")[0], 400)
        server.stop()
        self.check_view(journal)
        self.check_refusals(journal)

    def view(self, *arguments: object) -> str:
        """The address of `hone view`."""
        command = [HONE, "view", *map(str, arguments), "--json", "--port", "0"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate, timeout=60)
        self.addCleanup(process.terminate)
        assert process.stdout is not None
        return str(json.loads(process.stdout.readline())["url"])

    def check_view(self, journal: Path) -> None:
        before = journal.read_bytes()
        url = self.view(journal)
        self.assertEqual(json.loads(get(url + "/api/about")[1])["live"], False)
        self.assertEqual(get(url + "/api/episodes"), (200, '{"episodes":[],"next":null}'))
        self.assertEqual(get(url + "/")[0], 200)
        for path in ("/api/live", "/metrics", "/healthz"):
            self.assertEqual(get(url + path)[0], 404, path)
        self.assertEqual(get(url + "/api/episodes", {"Host": "rebound.example"})[0], 403)
        self.assertEqual(journal.read_bytes(), before)

        self.check_two(journal)

    def check_two(self, journal: Path) -> None:
        """A journal is chosen by its file's name, and by its path where two files have one name."""
        for folder, other in ((self.here, "other.db"), (self.here / "more", "run.db")):
            folder.mkdir(exist_ok=True)
            (folder / other).write_bytes(journal.read_bytes())
            url = self.view(journal, folder / other)
            about = json.loads(get(url + "/api/about")[1])
            names = ["run.db", "other.db"] if folder == self.here else [str(journal), str(folder / other)]
            self.assertEqual((about["journal"], about["journals"]), (names[0], names))
            for name in ("", *names):
                asked = urllib.parse.quote(name, safe="")
                self.assertEqual(json.loads(get(f"{url}/api/tasks?journal={asked}")[1])["tasks"], [])
            status, said = get(url + "/api/tasks?journal=..%2fnone.db")
            self.assertEqual((status, "found '../none.db', expected one of " in said), (404, True))

    def check_refusals(self, journal: Path) -> None:
        newer = self.here / "newer.db"
        newer.write_bytes(journal.read_bytes())
        with sqlite3.connect(newer) as database:
            database.execute("PRAGMA user_version = 99")
        database.close()
        damaged = self.here / "damaged.db"
        damaged.write_bytes(journal.read_bytes()[:4096] + b"\xa5" * (journal.stat().st_size - 4096))
        text = self.here / "notes.txt"
        text.write_text("not a journal\n" * 1000)
        for path, said in (
            (newer, "found version 99 of the journal, this hone knows up to"),
            (damaged, "is damaged"),
            (text, "found a file of another kind"),
            (self.here / "missing.db", "no such file"),
            (self.here, "expected"),
        ):
            refused = hone("view", path, "--port", 0, timeout=60)
            self.assertNotEqual(refused.returncode, 0, path)
            self.assertIn(said, refused.stderr)
        twice = hone("view", journal, journal, "--port", 0, timeout=60)
        self.assertIn(f"found the journal {journal} twice; name each file once", twice.stderr)
        link = self.here / "link.db"
        link.symlink_to(journal)
        for name in (link, f"{journal.parent}/./{journal.name}"):
            twice = hone("view", journal, name, "--port", 0, timeout=60)
            self.assertIn(f"the journals {journal} and {name} are the same file; name each file once", twice.stderr)
        beyond = hone("view", journal, "--host", "0.0.0.0", "--port", 0, timeout=60)
        self.assertIn("not a loopback address; expected --token-file", beyond.stderr)

    def test_an_address_beyond_loopback_needs_a_token(self) -> None:
        refused = hone("serve", *FREE, "--web", "70000")
        self.assertIn("web.listen: found port '70000', expected 0 to 65535", refused.stderr)
        refused = hone("serve", *FREE, "--web", "0.0.0.0:0")
        self.assertNotEqual(refused.returncode, 0, refused.stderr)
        self.assertIn("not a loopback address; expected --token-file", refused.stderr)
        token = self.here / "token"
        token.write_text(TOKEN + "\n")
        token.chmod(0o600)
        server = self.serve("--web", "0.0.0.0:0", "--set", f"web.token_file={token}")
        server.said["web"] = server.said["web"].replace("0.0.0.0", "127.0.0.1")
        self.assertEqual(server.get("/readyz")[0], 401)
        self.assertEqual(server.get("/readyz", TOKEN)[0], 200)
        self.assertEqual(server.get("/")[0], 200, "the page itself asks for the token")
        for path in ("/api/about", "/api/live", "/api/login"):
            self.assertEqual(server.get(path)[0], 401, path)
            self.assertEqual(server.get(path, TOKEN)[0], 200, path)

    def test_a_server_with_keys_needs_a_key_for_its_web_process(self) -> None:
        made = hone("keys", "new", "web", "--role", "monitor", cwd=self.here)
        self.assertEqual(made.returncode, 0, made.stderr)
        keys = ("--keys", str(self.here / "keys"))
        refused = hone("serve", *FREE, *keys, "--web", "0")
        self.assertIn("hone keys new web --role monitor", refused.stderr)
        journal = ("--set", f"journal.path={self.here / 'keys.db'}")
        server = self.serve(*keys, *journal, "--web", "0", "--set", f"web.key={self.here / 'web.key'}")
        self.assertEqual(server.get("/readyz")[0], 200)
        status, said = server.get("/api/episodes")
        self.assertEqual(status, 404, said)
        self.assertIn("set web.token_file", said)
        self.assertIn('hone_client_messages_total{client="web"}', server.get("/metrics")[1])

    def test_the_web_process_is_restarted_and_ends_with_the_server(self) -> None:
        server = self.serve("--web", "0")
        (first,) = server.children()
        os.kill(first, signal.SIGTERM)  # as a service manager sends it to all processes
        self.assertEqual(server.get("/healthz")[0], 200)
        os.kill(first, signal.SIGKILL)
        while True:
            try:
                status, _ = server.get("/healthz")
                break
            except (urllib.error.URLError, ConnectionError):
                self.assertIsNone(server.process.poll())
        self.assertEqual(status, 200)
        (second,) = server.children()
        self.assertNotEqual(first, second)
        pidfd = os.pidfd_open(second)
        server.process.kill()
        self.assertTrue(select.select([pidfd], [], [], 60)[0], "it ends when the server is killed")
        os.close(pidfd)


if __name__ == "__main__":
    unittest.main()
