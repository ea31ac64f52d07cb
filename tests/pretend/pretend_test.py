"""A backend in a folder of its own is configured, described, validated and judged with, and hone names it nowhere."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

BUILD = Path(os.environ["HONE_BUILD_DIR"])
HERE = Path(__file__).resolve().parent
PLUGIN = BUILD / "tests/gpu/pretend.so"
KERNEL = (HERE / "tasks/double_it/baseline.pretend").read_text()
CONFIG = f"""
backend: pretend
pretend:
  banned: [goto]
  isolation: fresh
plugins:
  paths: [{PLUGIN}]
  in_process: true
datasets:
- name: pretend
  config: {{path: {HERE / "tasks"}}}
evaluate:
  measure: {{set_mb: 1, round_ms: 0.5, pairs_min: 3, pairs_max: 3, singles: 1}}
"""


def hone(*arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [str(BUILD / "hone"), *map(str, arguments)]
    environment = {**os.environ, "NO_COLOR": "1", **variables}
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)


class Pretend(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.config = self.write("hone.yaml", CONFIG)

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text)
        return path

    def judge(self, source: str, *more: object, name: str = "kernel.pretend") -> dict[str, Any]:
        """The verdict on a source, as a step gives it."""
        ran = hone("eval", "double_it", self.write(name, source), "-c", self.config, "--json", *more)
        self.assertIn(ran.returncode, (0, 1), ran.stderr)
        [judged] = json.loads(ran.stdout)
        self.assertIn("verdict", judged, judged)
        found: dict[str, Any] = judged["verdict"]
        return found

    def test_a_step_is_judged(self) -> None:
        verdict = self.judge(KERNEL)
        self.assertEqual(verdict["outcome"], "correct", verdict)
        self.assertGreater(verdict["speedup"]["value"], 0)
        wrong = self.judge(KERNEL.replace("x[i] + x[i]", "x[i]"))
        self.assertEqual(wrong["outcome"], "wrong", wrong)

    def test_an_answer_is_judged(self) -> None:
        verdict = self.judge(f"Here it is.\n```pretendc\n{KERNEL}```\n", name="answer.md")
        self.assertEqual(verdict["outcome"], "correct", verdict)

    def test_its_key_reaches_its_builds(self) -> None:
        jumping = KERNEL.replace("  if (i < n)", "  goto end;\nend:\n  if (i < n)")
        verdict = self.judge(jumping)
        self.assertEqual(verdict["outcome"], "build_failed", verdict)
        self.assertIn("submission.pretend:4:1: error: banned word 'goto'", verdict["diagnostics"])
        allowed = self.judge(jumping, "--set", "pretend.banned=[]")
        self.assertEqual(allowed["outcome"], "correct", allowed)

    def test_its_language_is_not_that_of_other_backends(self) -> None:
        verdict = self.judge(KERNEL.replace("pretend_kernel", 'extern "C" __global__'))
        self.assertIn("unknown word '__global__'", verdict["diagnostics"])

    def test_a_mistake_names_line_found_and_nearest(self) -> None:
        for found, message in (
            ("baned: [goto]", "hone.yaml:4: unknown key 'baned'; did you mean 'banned'?"),
            ("banned: 3", "hone.yaml:4: banned: expected a list of texts, found int"),
        ):
            ran = hone("config", self.write("hone.yaml", CONFIG.replace("banned: [goto]", found)))
            self.assertIn(message, ran.stderr)

    def test_its_key_is_listed(self) -> None:
        listed = json.loads(hone("config", self.config, "--keys", "--json").stdout)
        [key] = [one for one in listed if one["key"] == "pretend.banned"]
        self.assertEqual(key["expected"], "list of texts")
        self.assertIn("pretend.devices", [one["key"] for one in listed])

    def test_a_backend_that_is_not_trusted_is_not_loaded(self) -> None:
        ran = hone("config", self.write("hone.yaml", CONFIG.replace("in_process: true", "in_process: false")))
        self.assertEqual(ran.returncode, 2, ran.stderr)
        self.assertIn("unknown value 'pretend'", ran.stderr)
        self.assertIn("plugins.in_process: true", ran.stderr)

    def test_a_node_that_is_no_devices_is_refused(self) -> None:
        # /dev/zero has the major number of /dev/mem, and every machine has it.
        for node, message in (
            ("/dev/zero", "device node /dev/zero: found major number 1, expected one of a device's driver"),
            ("/dev/z*", "device node /dev/zero: found major number 1"),
            ("/dev/../etc/shadow", "device node: found '/dev/../etc/shadow', expected /dev/NAME"),
            ("/dev/*", "device node: found '/dev/*', expected /dev/NAME"),
        ):
            with self.subTest(node):
                ran = hone("eval", "double_it", "-", "-c", self.config, HONE_PRETEND_NODE=node)
                self.assertEqual(ran.returncode, 2, ran.stderr)
                self.assertIn("pretend.so: " + message, ran.stderr)
                checked = hone("validate", PLUGIN, HONE_PRETEND_NODE=node)
                self.assertEqual(checked.returncode, 1, checked.stdout)
                self.assertIn(message, checked.stdout)

    def test_it_passes_validation(self) -> None:
        checked = hone("validate", PLUGIN)
        self.assertEqual(checked.returncode, 0, checked.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
