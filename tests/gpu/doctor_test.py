"""hone doctor and devices: with the emulated driver, without one, with one that hangs or crashes."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

BUILD = Path(os.environ["HONE_BUILD_DIR"])
EMULATED = BUILD / "tests/gpu"
HUNG = "#include <unistd.h>\n__attribute__((constructor)) static void hang(void) { for (;;) pause(); }\n"
DEAD = "__attribute__((constructor)) static void die(void) { __builtin_trap(); }\n"


def doctor(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [str(BUILD / "hone"), "doctor", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env={**os.environ, "NO_COLOR": "1"})


def library(vendor: str, folder: Path = EMULATED) -> list[str]:
    return ["--set", f"{vendor}.library={folder}/backend_{vendor}_emulated.so"]


def report(vendor: str, *arguments: object) -> tuple[dict[str, Any], dict[str, Any], int]:
    """What is said of a backend, its findings by name, and the exit status."""
    ran = doctor("--json", *arguments)
    found = json.loads(ran.stdout)
    backend = next(each for each in found["backends"] if each["backend"] == vendor)
    assert ran.returncode == (0 if found["serves"] else 1), ran.stderr
    return backend, {each["what"]: each for each in found["findings"]}, ran.returncode


class Devices(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def with_driver(self, source: str) -> list[str]:
        """A copy of the plugin whose driver is this, in C; with none for no source."""
        shutil.copy(EMULATED / "backend_cuda_emulated.so", self.folder)
        shutil.copy(EMULATED / "libhone_emulated_nvrtc.so", self.folder)
        if source:
            driver = self.folder / "libhone_emulated_cuda.so"
            command = ["gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", str(driver)]
            subprocess.run(command, input=source, text=True, check=True)
        return library("cuda", self.folder)

    def test_a_device_is_told_of_with_what_it_can(self) -> None:
        for vendor, driver, clusters in (("cuda", "CUDA 13.", 8), ("hip", "HIP 6.", 0)):
            with self.subTest(vendor):
                backend, findings, _ = report(vendor, "--set", f"backend={vendor}", *library(vendor))
                self.assertTrue(backend["driver"].startswith(driver), backend)
                self.assertEqual((backend["trouble"], backend["compiler_trouble"]), ("", ""))
                [device] = backend["devices"]
                self.assertEqual(device["name"], "hone emulated device")
                self.assertEqual(device["sharing"], "", "memory was exported, imported and read back")
                self.assertEqual(device["limits"]["cluster"], clusters)
                self.assertTrue(device["cooperative"])
                self.assertEqual(device["peers"], [])
                self.assertEqual(device["clocks"]["core_hz_max"], 1.98e9)
                self.assertIn(f"builds for {device['architecture']}", backend["compiler"])
                for what in ("driver", "compiler", "device 0"):
                    self.assertEqual(findings[f"{vendor} {what}"]["state"], "ok", findings)

    def test_the_text_says_the_same(self) -> None:
        text = doctor("--set", "backend=cuda", *library("cuda")).stdout
        for words in (
            "NVRTC 13.0 builds for sm_90a",
            "hone emulated device, sm_90a: 8.59 GB at 4.92 TB/s",
            "clocks: core 1980 MHz at most; memory 3201 MHz at most",
            "clusters of 8; cooperative launches; no peer access",
            "import and read back of a descriptor work",
        ):
            self.assertIn(words, text)

    def test_no_driver_is_a_note_unless_its_backend_is_configured(self) -> None:
        chosen = self.with_driver("")
        backend, findings, _ = report("cuda", *chosen)
        self.assertEqual(backend["devices"], [])
        self.assertIn("no NVIDIA driver: libhone_emulated_cuda.so: cannot open", backend["trouble"])
        self.assertEqual(findings["cuda devices"]["state"], "note")
        self.assertIn("install NVIDIA's driver", findings["cuda devices"]["advice"])
        self.assertEqual(backend["compiler_trouble"], "", "compilers need no driver")
        backend, findings, status = report("cuda", "--set", "backend=cuda", *chosen)
        self.assertEqual((findings["cuda devices"]["state"], status), ("missing", 1))

    def test_no_compiler_says_how_to_get_one(self) -> None:
        nowhere = ["--set", "cuda.compiler=/nowhere/libnvrtc.so.13"]
        backend, findings, status = report("cuda", "--set", "backend=cuda", *library("cuda"), *nowhere)
        self.assertIn("/nowhere/libnvrtc.so.13", backend["compiler_trouble"])
        self.assertEqual((findings["cuda compiler"]["state"], status), ("missing", 1))
        self.assertIn("nvidia-cuda-nvrtc", findings["cuda compiler"]["advice"])
        self.assertEqual(len(backend["devices"]), 1)

    def test_a_library_of_counters_that_is_too_old_is_not_taken(self) -> None:
        configured = ["--set", "backend=cuda", *library("cuda"), "--set"]
        good, old = BUILD / "tests/pretend_cupti.so", BUILD / "tests/old_cupti.so"
        backend, findings, _ = report("cuda", *configured, f"cuda.cupti={good}")
        self.assertEqual((backend["counters"], backend["counters_not_taken"]), (str(good), []))
        self.assertEqual(findings["cuda counters"]["state"], "ok")
        backend, findings, _ = report("cuda", *configured, f"cuda.cupti={old}")
        self.assertEqual(backend["counters"], "")
        [reason] = backend["counters_not_taken"]
        self.assertTrue(reason.startswith(f"{old}: it is too old: it lacks "), reason)
        self.assertEqual(findings["cuda counters"]["state"], "note")
        self.assertIn("install CUPTI 12.6 or newer", findings["cuda counters"]["advice"])
        self.assertIn(f"not taken: {old}: it is too old", doctor(*configured, f"cuda.cupti={old}").stdout)

    def test_a_driver_that_hangs_or_dies_costs_its_answer_alone(self) -> None:
        for source, timeout, words in (
            (HUNG, 2, "the query timed out: no result after 2 s"),
            (DEAD, 60, "the query ended with signal SIG"),
        ):
            with self.subTest(words):
                backend, _, _ = report("cuda", "--timeout", timeout, *self.with_driver(source))
                self.assertIn(words, backend["trouble"])
                self.assertEqual(backend["compiler_trouble"], "")

    def test_a_configured_device_that_is_not_there_is_missing(self) -> None:
        chosen = ["--set", "backend=cuda", "--set", "cuda.devices=[0, 3]", *library("cuda")]
        _, findings, status = report("cuda", *chosen)
        self.assertEqual((findings["cuda device 3"]["state"], status), ("missing", 1))
        self.assertIn("the driver reports 1", findings["cuda device 3"]["found"])
        self.assertEqual(findings["cuda device 0"]["state"], "ok")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
