"""Every ```sh block of the documents runs, in order, in a folder of its own; "sh no-run" blocks are only parsed."""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("HONE_BUILD_DIR", ROOT / "build/dev")).resolve()
BLOCK = re.compile(r"^(```+)([^\n`]*)\n(.*?)^\1\s*$", re.MULTILINE | re.DOTALL)
# What blocks may name that is long or needs the network: they are parsed, and the scripts have tests of their own.
SECONDS_MAX = 300
# Other tests use the machine, too. A wide interval must not end a block with a fault.
MEASURES_ON_A_BUSY_MACHINE = """
hone() {
  case $1 in
    eval | profile | demo) command hone "$@" --set evaluate.max_interval=0 ;;
    *) command hone "$@" ;;
  esac
}
"""


def documents() -> list[Path]:
    found = [ROOT / name for name in ("README.md", "CONTRIBUTING.md") if (ROOT / name).exists()]
    found += sorted((ROOT / "docs").rglob("*.md"))
    found += sorted((ROOT / "clients").glob("*/README.md"))
    return found


def blocks(path: Path) -> list[tuple[str, str]]:
    """(info, text) of every fenced block."""
    return [(info.strip(), body) for _, info, body in BLOCK.findall(path.read_text())]


def commands(path: Path, runnable: bool) -> list[str]:
    found = []
    for info, body in blocks(path):
        words = info.split()
        if words and words[0] in ("sh", "bash", "console") and ("no-run" not in words) == runnable:
            found.append(body)
    return found


def run_blocks(scripts: list[str], folder: str) -> subprocess.CompletedProcess[str]:
    """Runs the blocks of one document one after another, in a folder that has the repository's configs/."""
    for name in ("configs", "envs", "plugins", "scripts", "clients"):
        (Path(folder) / name).symlink_to(ROOT / name)
    environment = {**os.environ, "PATH": f"{BUILD}:{os.environ['PATH']}", "NO_COLOR": "1"}
    text = "set -euo pipefail\n" + MEASURES_ON_A_BUSY_MACHINE + "\n".join(scripts)
    return subprocess.run(
        ["bash", "-c", text], cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS_MAX
    )


class Snippets(unittest.TestCase):
    def test_there_are_documents_and_blocks(self) -> None:
        self.assertGreaterEqual(len(documents()), 4)
        self.assertGreaterEqual(sum(len(commands(path, runnable=True)) for path in documents()), 2)

    def test_a_broken_block_is_caught(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.assertNotEqual(run_blocks(["hone tasks no_such_task > /dev/null"], folder).returncode, 0)

    def test_every_block_runs(self) -> None:
        for path in documents():
            scripts = commands(path, runnable=True)
            if not scripts:
                continue
            with self.subTest(path.name), tempfile.TemporaryDirectory() as folder:
                ran = run_blocks(scripts, folder)
                self.assertEqual(ran.returncode, 0, f"{path.name}:\n{ran.stdout}\n{ran.stderr}")

    def test_blocks_that_do_not_run_are_at_least_shell(self) -> None:
        for path in documents():
            for script in commands(path, runnable=False):
                ran = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True)
                self.assertEqual(ran.returncode, 0, f"{path.name}: {ran.stderr}\n{script}")

    def test_subcommands_in_documents_exist(self) -> None:
        """Also in prose, tables and blocks that do not run: `hone WORD` names a subcommand."""
        shown = subprocess.run([BUILD / "hone", "--help"], capture_output=True, text=True, check=True).stdout
        known = set(re.findall(r"^  ([a-z]+)  ", shown, re.MULTILINE))
        self.assertIn("serve", known)
        for path in documents():
            for word in re.findall(r"`(?:\$ )?(?:\./)?(?:build/\w+/)?hone ([a-z]+)\b", path.read_text()):
                self.assertIn(word, known, f"{path.name}: `hone {word}`")

    def test_links_between_documents_lead_somewhere(self) -> None:
        for path in documents():
            for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", BLOCK.sub("", path.read_text())):
                self.assertTrue((path.parent / target).exists(), f"{path.relative_to(ROOT)}: {target}")

    def test_configs_load(self) -> None:
        files = sorted((ROOT / "configs").glob("*"))
        self.assertGreaterEqual(len(files), 3)
        for path in files:
            ran = subprocess.run([BUILD / "hone", "config", path], capture_output=True, text=True)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            self.assertIn(f"# {path}:", ran.stdout)


if __name__ == "__main__":
    if not (BUILD / "hone").exists():
        sys.exit(f"no hone in {BUILD}: build the preset dev, or set HONE_BUILD_DIR")
    unittest.main()
