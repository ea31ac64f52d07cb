"""Conventions of command lines: -c, help, version, ranges; and progress output."""

import json
import os
import pty
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

from cli_test import GOLDEN, HONE, QUICK, hone
from pseudo_terminal import read_terminal

FREE = ("--endpoint", "tcp://127.0.0.1:0", "--control", "tcp://127.0.0.1:0")


class Habits(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.here = Path(folder.name)
        self.file = self.here / "hone.yaml"
        self.file.write_text("environment: {max_turns: 7}\n")

    def test_a_configuration_is_named_by_option_or_argument(self) -> None:
        for given in (["-c", self.file], ["--config", self.file], [f"--config={self.file}"], [self.file]):
            ran = hone("config", "--json", *given)
            self.assertEqual(json.loads(ran.stdout)["config"]["environment"]["max_turns"], 7, ran.stderr)

    def test_serve_takes_c(self) -> None:
        command = [HONE, "serve", "-c", str(self.file), "--json", *FREE, "--set", "log.level=error"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            self.assertIn("endpoint", json.loads(server.stdout.readline()))
            server.send_signal(signal.SIGTERM)
            self.assertEqual(server.wait(60), 0)

    def test_two_configurations_are_refused(self) -> None:
        for command in ("serve", "config"):
            ran = hone(command, "-c", self.file, "other.yaml")
            self.assertEqual(ran.returncode, 2)
            self.assertIn(f"found {self.file} and CONFIG other.yaml, expected one of them", ran.stderr)
        self.assertEqual(hone("config", "-c", self.file, self.file).returncode, 0)

    def test_help_of_a_command_is_what_its_option_prints(self) -> None:
        for command in ("serve", "eval", "rollout", "help", "version"):
            asked = hone("help", command)
            self.assertEqual((asked.returncode, asked.stdout), (0, hone(command, "--help").stdout))
        self.assertEqual(hone("help").stdout, hone("--help").stdout)
        self.assertIn("did you mean 'serve'?", hone("help", "serv").stderr)

    def test_version_is_a_command(self) -> None:
        self.assertEqual(hone("version").stdout, hone("--version").stdout)

    def test_what_is_too_much_is_named(self) -> None:
        self.assertIn("hone: unexpected argument 'help'", hone("tasks", "sum", "help").stderr)

    def test_ranges_are_as_people_write_them(self) -> None:
        shown = hone("bench", "--help").stdout
        self.assertIn("--count N (2 to 1,000,000)", shown)
        self.assertNotIn("INT in", shown)
        self.assertIn("--limit N (0 or more)", hone("episodes", "--help").stdout)
        for given in ("1", "1000001", "two", "2.5", ""):
            said = hone("bench", "step", "--count", given).stderr
            self.assertIn(f"--count: found '{given}', expected an integer, 2 to 1,000,000", said)
        keys = hone("config", "--keys").stdout
        self.assertNotRegex(keys, r"\de\+\d")
        self.assertRegex(keys, r"server.limits.frame_bytes +bytes, 1 KiB to 1 GiB")
        self.assertRegex(keys, r"server.limits.episodes +integer, 1 to 10,000,000")


class Waiting(unittest.TestCase):
    def test_eval_says_on_a_terminal_what_it_waits_for(self) -> None:
        ours, theirs = pty.openpty()
        command = [HONE, "eval", "add_relu", str(GOLDEN / "correct_fast.cpp"), *QUICK]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs) as ran:
            os.close(theirs)
            said = read_terminal(ours)
            self.assertEqual(ran.wait(240), 0)
        for words in (
            "starting the launcher",
            "reading plugins and tasks",
            "reading task add_relu",
            "starting the judge",
        ):
            self.assertIn(words, said.decode())


if __name__ == "__main__":
    unittest.main()
