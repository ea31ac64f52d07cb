"""scripts/hip-validate as a user runs it, with emulated HIP calls, and without a driver."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ["HONE_BUILD_DIR"])
PLUGIN = "backend_hip_emulated.so"
QUICK = "evaluate.measure={pairs_min: 3, pairs_max: 3, seconds_max: 0.2, round_ms: 1, singles: 1, set_mb: 1}"

CASES = "Backends/BackendFa*:Backends/BackendSharing*:Vendor/GpuDevice*:Vendor/GpuFault*:Tasks/*/gelu"
SUITES = {"BackendFacts", "BackendFault", "BackendSharing", "GpuDevice", "GpuFault", "TaskResults"}


class HipValidate(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def validate(self, library: Path, *arguments: str) -> tuple[int, dict[str, Any], str]:
        """The exit status, the file, and the file's text."""
        output = self.folder / "report.json"
        command = [str(ROOT / "scripts/hip-validate"), "--build", str(BUILD), "--output", str(output)]
        command += ["--set", f"hip.library={library}", "--set", QUICK, *arguments]
        # A part of the cases: with emulated HIP calls, each of them is a test of its own, too.
        environment = {**os.environ, "GTEST_FILTER": CASES}
        ran = subprocess.run(command, capture_output=True, text=True, timeout=550, env=environment)
        self.assertTrue(output.exists(), ran.stderr + ran.stdout)
        text = output.read_text()
        return ran.returncode, json.loads(text), text

    def test_a_device_is_validated_and_the_file_says_nothing_of_its_owner(self) -> None:
        _, report, text = self.validate(BUILD / "tests/gpu" / PLUGIN, "--task", "gelu")
        steps = {step["step"]: step for step in report["steps"]}
        self.assertEqual(list(steps), ["doctor", "validate", "conformance", "admission of gelu", "times of gelu"])
        for name in ("doctor", "validate", "conformance"):
            self.assertEqual(steps[name]["state"], "passed", steps[name]["words"])
        [device] = steps["doctor"]["result"]["backend"]["devices"]
        self.assertEqual(device["name"], "hone emulated device")
        cases = {case["case"]: case for case in steps["conformance"]["result"]}
        self.assertGreater(len(cases), 20)
        self.assertEqual({name.split(".")[0] for name in cases}, SUITES)
        for case in (
            "BackendFault.Trap_IsReported",
            "GpuFault.Trap_IsReported",
            "TaskResults.DeviceResults_AgreeWithTheProcessors/gelu",
        ):
            self.assertFalse(cases[case]["skipped"], case)
        # On a device with no such pages.
        self.assertTrue(cases["BackendSharing.GuardPages_AreInaccessible"]["skipped"])
        [admission] = steps["admission of gelu"]["result"]
        # Emulated times mean nothing; all else of the goldens holds.
        reasons = [reason for reason in admission["reasons"] if "speedup" not in reason]
        self.assertEqual(reasons, [])
        self.assertFalse([lazy for lazy in admission["lazy"] if lazy["passes"]])
        figures = {each["file"]: each for each in steps["times of gelu"]["result"]}
        self.assertEqual(figures["baseline.cu"]["outcome"], "correct")
        self.assertGreater(figures["baseline.cu"]["speedup"]["time_us"], 0)
        for own in (str(ROOT), str(BUILD), str(Path.home()) + "/", socket.gethostname(), '"pci"'):
            self.assertNotIn(own, text)

    def test_with_no_driver_it_says_so_and_runs_nothing(self) -> None:
        shutil.copy(BUILD / "tests/gpu" / PLUGIN, self.folder)
        status, report, _ = self.validate(self.folder / PLUGIN, "--task", "gelu", "--task", "saxpy")
        self.assertEqual(status, 1)
        states = {step["step"]: step["state"] for step in report["steps"]}
        self.assertEqual(
            states,
            {
                "doctor": "failed",
                "validate": "passed",
                "conformance": "skipped",
                "task gelu": "skipped",
                "task saxpy": "skipped",
            },
        )
        self.assertIn("no AMD driver: libhone_emulated_hip.so: cannot open", report["steps"][0]["words"])

    def test_a_task_that_is_not_there_is_the_callers_mistake(self) -> None:
        command = [str(ROOT / "scripts/hip-validate"), "--build", str(BUILD), "--task", "sums"]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=self.folder)
        self.assertEqual(ran.returncode, 2)
        self.assertIn("no task 'sums' with device code; there are add_relu, ", ran.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
