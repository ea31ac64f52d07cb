"""The help of every command: its width, and plain English."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import unittest
from pathlib import Path

from cli_test import HONE, hone
from pseudo_terminal import read_terminal

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "repo"))
from words_test import PATTERN


def on_a_terminal(columns: int, *arguments: str) -> str:
    """What hone prints on a terminal of that width."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    with subprocess.Popen([HONE, *arguments], stdout=theirs, stderr=subprocess.DEVNULL) as ran:
        os.close(theirs)
        said = read_terminal(ours)
        ran.wait(60)
    return said.decode().replace("\r\n", "\n")


def too_wide(text: str, columns: int) -> list[str]:
    """Lines over the limit, but for a single word that is longer."""
    return [line for line in text.split("\n") if len(line) > columns and " " in line.strip()]


class Help(unittest.TestCase):
    def setUp(self) -> None:
        self.commands = re.findall(r"^  ([a-z]+)  ", hone("--help").stdout, re.MULTILINE)
        self.assertGreater(len(self.commands), 20)

    def test_help_has_at_most_80_columns(self) -> None:
        for arguments in (["--help"], *([command, "--help"] for command in self.commands)):
            with self.subTest(arguments):
                self.assertEqual(too_wide(hone(*arguments).stdout, 80), [])

    def test_help_wraps_at_the_width_of_the_terminal(self) -> None:
        for columns in (44, 60, 132):
            for arguments in (["--help"], ["bench", "--help"], ["help", "eval"]):
                with self.subTest(columns=columns, arguments=arguments):
                    shown = on_a_terminal(columns, *arguments)
                    self.assertEqual(too_wide(shown, columns), [])
                    words = [word for word in shown.split() if word != "\\"]
                    self.assertCountEqual(words, [word for word in hone(*arguments).stdout.split() if word != "\\"])
        self.assertGreater(max(map(len, on_a_terminal(132, "bench", "--help").split("\n"))), 80)

    def test_help_uses_no_banned_phrase(self) -> None:
        for arguments in (["--help"], *([command, "--help"] for command in self.commands), ["config", "--keys"]):
            with self.subTest(arguments):
                self.assertEqual(PATTERN.findall(hone(*arguments).stdout), [])

    def test_descriptions_are_phrases_without_a_period(self) -> None:
        for command in self.commands:
            options = hone(command, "--help").stdout.split("\nExamples:")[0].split("\nOptions:\n")[1]
            for entry in re.split(r"\n  (?=-)", options):
                self.assertFalse(entry.rstrip().endswith("."), entry)


if __name__ == "__main__":
    unittest.main()
