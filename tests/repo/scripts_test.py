"""The scripts: prompts without an answer, and the checksums in the README."""

import os
import pty
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("HONE_BUILD_DIR", ROOT / "build/dev")).resolve()


def alternatives(pattern: str) -> list[str]:
    """The alternatives of a regular expression, without those within parentheses."""
    found, depth = [""], 0
    for character in pattern:
        depth += (character == "(") - (character == ")")
        if character == "|" and depth == 0:
            found.append("")
        else:
            found[-1] += character
    return [one for one in found if one]


class Scripts(unittest.TestCase):
    def test_each_pattern_for_tests_that_sanitizers_leave_out_matches_a_test(self) -> None:
        """A test that is renamed would run there again, or a pattern would stay that means nothing."""
        listed = subprocess.run(["ctest", "-N"], cwd=BUILD, capture_output=True, text=True, check=True).stdout
        names = re.findall(r"Test +#\d+: (.+)", listed)
        groups = (ROOT / "scripts/test").read_text().partition("\n    asan)\n")[2]
        patterns = re.findall(r"^ +\w+\+?='([^']+)'", groups, re.MULTILINE)
        patterns += re.findall(r'build_and_test tsan .*-E "([^"]+)"', groups)
        self.assertGreater(len(patterns), 6)
        for one in (one for pattern in patterns for one in alternatives(pattern)):
            with self.subTest(one):
                self.assertTrue(any(re.search(one, name) for name in names))

    def test_setup_without_an_answer_installs_nothing_and_says_so(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (
                ("dpkg-query", "exit 0"),
                ("apt-get", "echo apt-get was called >&2"),
                ("sudo", "exit 9"),
            ):
                program = Path(folder) / name
                program.write_text(f"#!/bin/sh\n{text}\n")
                program.chmod(0o755)
            ours, theirs = pty.openpty()
            setup = subprocess.Popen(
                [ROOT / "scripts/setup"],
                stdin=theirs,
                stdout=theirs,
                stderr=theirs,
                env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "NO_COLOR": "1"},
            )
            os.close(theirs)
            said = b""
            while b"[Y/n]" not in said:
                said += os.read(ours, 4096)
            os.write(ours, b"\x04")  # the end of a terminal's input
            try:
                while more := os.read(ours, 4096):
                    said += more
            except OSError:  # how Linux says that the other end is closed
                pass
            os.close(ours)
            self.assertEqual(setup.wait(), 1)
            text = said.decode()
            self.assertIn("nothing was installed", text)
            self.assertIn("scripts/setup --yes", text)
            self.assertNotIn("apt-get was called", text)

    def test_setup_says_how_large_torch_will_be_before_it_makes_an_environment_for_it(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "hone"
            (copy / "scripts").mkdir(parents=True)
            for name in ("setup", "lib.bash"):
                shutil.copy(ROOT / "scripts" / name, copy / "scripts")
            programs = Path(folder) / "bin"
            programs.mkdir()
            asked = Path(folder) / "asked"
            make_pip = f'mkdir -p "$last/bin"; cp {programs}/pip "$last/bin"'
            for name, text in (
                ("dpkg-query", "for a; do case $a in -*|'${'*) ;; *) echo $a installed ;; esac; done"),
                ("uv", f'[ "$1" = venv ] || echo "$@" > {asked}'),
                ("pip", f'[ "$1" = config ] || cp {programs}/uv "$(dirname "$0")"'),
                ("python3", f'for last; do :; done; [ "$2" != venv ] || {{ {make_pip}; }}'),
            ):
                program = programs / name
                program.write_text(f"#!/bin/sh\n{text}\n")
                program.chmod(0o755)
            environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "NO_COLOR": "1"}

            def setup(*options: str) -> subprocess.CompletedProcess[str]:
                return subprocess.run(
                    [copy / "scripts/setup", "--python", *options],
                    stdin=subprocess.DEVNULL,
                    env=environment,
                    capture_output=True,
                    text=True,
                )

            checked = setup("--check")
            self.assertEqual(checked.returncode, 1, checked.stderr)
            self.assertRegex(checked.stderr, r"build/python, .*torch==2\.13\.0.* triton==3\.9\.0 numpy: \d GB")
            self.assertFalse((copy / "build/python").exists())
            made = setup("--yes")
            self.assertEqual(made.returncode, 0, made.stderr)
            self.assertIn(f"plugins.python={copy}/build/python/bin/python", made.stderr)
            self.assertRegex(
                asked.read_text(), rf"^pip install --python {copy}/build/python/bin/python .*torch==2\.13\.0.* numpy$"
            )
            self.assertIn("triton==3.9.0 numpy transformers:", setup("--level4", "--check").stderr)

    def test_the_numbers_of_the_readme_add_up(self) -> None:
        text = (ROOT / "README.md").read_text()
        parts = [int(number) for number in re.findall(r"^  (\d+) passed, 0 failed, \d+ skipped$", text, re.MULTILINE)]
        (total,) = re.findall(r"^(\d+) passed, 0 failed$", text, re.MULTILINE)
        self.assertGreaterEqual(len(parts), 2)
        self.assertEqual(sum(parts), int(total))
        self.assertNotIn('note "build $1" ok', (ROOT / "scripts/test").read_text())

    def test_attacks_runs_what_dev_leaves_out_and_all_has_both(self) -> None:
        text = (ROOT / "scripts/test").read_text()
        (left_out,) = re.findall(r"build_and_test dev -LE '(\S+)'", text)
        (chosen,) = re.findall(r"run_ctest attacks dev -L '(\S+)'", text)
        self.assertEqual(left_out, chosen)
        (default,) = re.findall(r"^groups=\((.*)\)$", text, re.MULTILINE)
        (every,) = re.findall(r"^all=\((.*)\)$", text, re.MULTILINE)
        self.assertLessEqual({"attacks", *default.split()}, set(every.split()))
        listed = subprocess.run([ROOT / "scripts/test", "--help"], capture_output=True, text=True, check=True).stdout
        self.assertLessEqual(set(every.split()), set(re.findall(r"^  (\w+) ", listed, re.MULTILINE)))


if __name__ == "__main__":
    unittest.main()
