"""hone top in a pseudo-terminal: what it shows, and that it restores the terminal however it ends."""

import fcntl
import itertools
import json
import os
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import tempfile
import termios
import time
import unittest
from pathlib import Path
from typing import Any

from cli_test import HONE, hone
from web_test import Server

ENTER, LEAVE = b"\x1b[?1049h", b"\x1b[?1049l"
WAIT_S = 60


class Shown:
    """`hone top` on a terminal of its own."""

    def __init__(self, *arguments: str, columns: int = 100, rows: int = 30) -> None:
        self.ours, self.theirs = pty.openpty()
        self.resize(columns, rows)
        self.before = termios.tcgetattr(self.theirs)
        environment = {**os.environ, "TERM": "xterm"}
        environment.pop("NO_COLOR", None)
        self.process = subprocess.Popen(
            [HONE, "top", *arguments],
            stdin=self.theirs,
            stdout=self.theirs,
            stderr=self.theirs,
            env=environment,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        self.said = b""

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self.theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def wait_for(self, words: bytes) -> bytes:
        """The output up to and with these words, from the end of what the previous call returned."""
        until_s = time.monotonic() + WAIT_S
        while words not in self.said:
            left_s = until_s - time.monotonic()
            ready = left_s > 0 and select.select([self.ours], [], [], left_s)[0]
            assert ready, (words, self.said)
            self.said += os.read(self.ours, 1 << 16)
        end = self.said.index(words) + len(words)
        found, self.said = self.said[:end], self.said[end:]
        return found

    def end(self) -> int:
        """The exit status, after all output was read."""
        ended = os.pidfd_open(self.process.pid)
        until_s = time.monotonic() + WAIT_S
        while not select.select([ended], [], [], 0)[0]:
            assert time.monotonic() < until_s, self.said
            if self.ours in select.select([self.ours, ended], [], [], WAIT_S)[0]:
                self.said += os.read(self.ours, 1 << 16)
        while select.select([self.ours], [], [], 0)[0]:
            self.said += os.read(self.ours, 1 << 16)
        os.close(ended)
        return self.process.wait()

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.ours)
        os.close(self.theirs)


def held_port() -> socket.socket:
    """Holds a port until it is closed: no connection gets the port, and a test can start a server on it."""
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind(("127.0.0.1", 0))
    return held


class Top(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.here = Path(folder.name)

    def serve(self, control: str = "tcp://127.0.0.1:0") -> Server:
        server = Server(self.here, endpoints=["--endpoint", "tcp://127.0.0.1:0", "--control", control])
        self.addCleanup(server.stop)
        return server

    def show(self, *arguments: str, **size: int) -> Shown:
        shown = Shown(*arguments, **size)
        self.addCleanup(shown.close)
        return shown

    def assert_restored(self, shown: Shown) -> None:
        self.assertIn(LEAVE, shown.said)
        self.assertIn(b"\x1b[?25h", shown.said, "the cursor is back")
        self.assertIn(b"\x1b[?7h", shown.said, "long lines wrap again")
        self.assertEqual(termios.tcgetattr(shown.theirs), shown.before)

    def test_q_and_signals_end_it_and_restore_the_terminal(self) -> None:
        endpoint = self.serve().said["control"]
        for how in ("q", signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            with self.subTest(how):
                shown = self.show(endpoint)
                shown.wait_for(ENTER)
                self.assertFalse(termios.tcgetattr(shown.theirs)[3] & termios.ECHO)
                shown.wait_for(b"no finished turn yet")
                if how == "q":
                    os.write(shown.ours, b"xq")
                else:
                    os.kill(shown.process.pid, how)
                self.assertEqual(shown.end(), 0)
                self.assert_restored(shown)

    def test_a_crash_restores_the_terminal(self) -> None:
        shown = self.show(self.serve().said["control"])
        shown.wait_for(b"no finished turn yet")
        os.kill(shown.process.pid, signal.SIGABRT)
        self.assertEqual(shown.end(), -signal.SIGABRT)
        self.assert_restored(shown)

    def test_a_stopped_job_gives_the_terminal_back_until_it_continues(self) -> None:
        shown = self.show(self.serve().said["control"])
        shown.wait_for(b"no finished turn yet")
        os.kill(shown.process.pid, signal.SIGTSTP)
        shown.wait_for(LEAVE)
        _, status = os.waitpid(shown.process.pid, os.WUNTRACED)
        self.assertTrue(os.WIFSTOPPED(status))
        self.assertEqual(termios.tcgetattr(shown.theirs), shown.before)
        os.kill(shown.process.pid, signal.SIGCONT)
        shown.wait_for(ENTER)
        shown.wait_for(b"no finished turn yet")
        os.write(shown.ours, b"q")
        self.assertEqual(shown.end(), 0)
        self.assert_restored(shown)

    def test_it_shows_the_figures_and_fits_the_window(self) -> None:
        shown = self.show(self.serve().said["control"], columns=60, rows=8)
        frame = shown.wait_for(b"\x1b[J")
        for words in (b"hone top", b"serving", b"rate", b"steps", b"queue", b"episodes", b"outcomes"):
            self.assertIn(words, frame)
        self.assertEqual(frame.count(b"\x1b[K"), 8)
        for line in re.sub(rb"\x1b\[[?0-9]*[a-zA-Z]", b"", frame).decode().split("\r\n"):
            self.assertLessEqual(len(line.rstrip("\r")), 60, line)
        shown.resize(100, 20)  # the kernel sends SIGWINCH
        shown.wait_for(b"no finished turn yet")
        os.write(shown.ours, b"q")
        self.assertEqual(shown.end(), 0)

    def test_a_server_that_is_away_is_named_and_found_again(self) -> None:
        held = held_port()
        self.addCleanup(held.close)
        control = f"tcp://127.0.0.1:{held.getsockname()[1]}"
        server = self.serve(control)
        shown = self.show(control)
        shown.wait_for(b"serving")
        server.process.kill()
        server.stop()
        shown.wait_for(b"no answer since ")
        again = self.serve(control)
        frame = b"no answer"
        while b"no answer" in frame:
            frame = shown.wait_for(b"\x1b[J")
        self.assertIn(b"serving", frame)
        again.process.kill()
        again.stop()
        shown.wait_for(b"no answer since ")
        os.kill(shown.process.pid, signal.SIGINT)
        self.assertEqual(shown.end(), 0)
        self.assert_restored(shown)

    def test_without_a_terminal_it_prints_once_without_colours(self) -> None:
        endpoint = self.serve().said["control"]
        environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
        for arguments in ([endpoint], ["--endpoint", endpoint, "--once"]):
            ran = hone("top", *arguments, environment=environment)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            self.assertTrue(ran.stdout.startswith("hone top  serving  up "), ran.stdout)
            self.assertNotIn("\x1b", ran.stdout)
            self.assertIn("no finished turn yet", ran.stdout)

    def test_json_is_a_line_for_each_refresh(self) -> None:
        endpoint = self.serve().said["control"]
        once = json.loads(hone("top", endpoint, "--json", "--once").stdout)
        self.assertEqual(once["health"]["status"], "serving")
        self.assertEqual(once["metrics"]["service"]["steps"]["done"], 0)
        with subprocess.Popen([HONE, "top", endpoint, "--json"], stdout=subprocess.PIPE, text=True) as ran:
            assert ran.stdout is not None
            first, second = (json.loads(ran.stdout.readline()) for _ in range(2))
            self.assertGreater(second["at"], first["at"])
            ran.send_signal(signal.SIGINT)
            self.assertEqual(ran.wait(WAIT_S), 0)

    def test_json_of_a_server_that_is_away_is_a_line_each_second(self) -> None:
        server = self.serve()
        with subprocess.Popen(
            [HONE, "top", server.said["control"], "--json"], stdout=subprocess.PIPE, text=True
        ) as ran:
            assert ran.stdout is not None
            self.assertIn("health", json.loads(ran.stdout.readline()))
            server.process.kill()
            server.stop()
            lines: list[dict[str, Any]] = []
            while len([one for one in lines if "error" in one]) < 4:
                lines.append(json.loads(ran.stdout.readline()))
            ran.send_signal(signal.SIGINT)
            self.assertEqual(ran.wait(WAIT_S), 0)
        away = [one["at"] for one in lines if "error" in one]
        self.assertLess(min(b - a for a, b in itertools.pairwise(away)), 1.5)

    def test_mistakes_are_named(self) -> None:
        with held_port() as held:
            ran = hone("top", f"tcp://127.0.0.1:{held.getsockname()[1]}")
        self.assertEqual((ran.returncode, ran.stdout), (3, ""))
        self.assertIn("no hone server answered", ran.stderr)
        two = hone("top", "tcp://127.0.0.1:1", "--endpoint", "tcp://127.0.0.1:2")
        self.assertEqual(two.returncode, 2)
        self.assertIn("found tcp://127.0.0.1:2 and ENDPOINT tcp://127.0.0.1:1, expected one of them", two.stderr)


if __name__ == "__main__":
    unittest.main()
