"""hone plan --sass with a stand-in for nvdisasm that reads outside of its sandbox, fails, or prints hostile text."""

import json
import os
import shutil
import struct
import subprocess
import tempfile
import unittest
import venv
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("HONE_BUILD_DIR", ROOT / "build/dev")).resolve()
HONE = str(BUILD / "hone")

# A stand-in for nvdisasm. The content of the image selects a case below. The case "outside" tries to read the file
# @SECRET@ and to create the file @MARK@. Both paths are outside of the sandbox.
NVDISASM = r"""#!/bin/sh
for image; do :; done
section() { printf '\t.section\t.text.%s,"ax",@progbits\n' "$1"; }
code() { printf '        /*0000*/                   %s ;\n' "$1"; }
case $(cat "$image") in
  good) section good; code 'LDG.E R0, desc[UR4][R2.64]'; code 'LDG.E R4, desc[UR4][R6.64]'; code EXIT
        section _Z3addPf; code EXIT; section 'odd;$(id)`'; code NOP; code EXIT ;;
  outside) section outside
        if cat @SECRET@; then code READ; fi
        if touch @MARK@; then code WRITTEN; fi
        code EXIT ;;
  control) section control; code "$(printf 'LDG.E \033[2J\r\233')"; printf '\033]0;title\007\n' ;;
  fails) printf 'nvdisasm warning : first\nnvdisasm fatal   : no \033[2Jcode\n' >&2; exit 3 ;;
  crashes) kill -SEGV $$ ;;
  endless) section endless; while :; do code "$(printf '%4000s' x)"; done ;;
esac
"""


def packed(value: Any) -> bytes:
    """MessagePack."""
    if isinstance(value, bool):
        return b"\xc3" if value else b"\xc2"
    if isinstance(value, int):
        return struct.pack(">Bq", 0xD3, value)
    if isinstance(value, str):
        return struct.pack(">BI", 0xDB, len(value.encode())) + value.encode()
    if isinstance(value, bytes):
        return struct.pack(">BI", 0xC6, len(value)) + value
    if isinstance(value, list):
        return struct.pack(">BI", 0xDD, len(value)) + b"".join(map(packed, value))
    return struct.pack(">BI", 0xDF, len(value)) + b"".join(packed(part) for pair in value.items() for part in pair)


def plan_of(images: list[tuple[str, str]], kernels: list[tuple[int, str]], launches: list[int]) -> bytes:
    """A plan of images (content, library), kernels (image, name), and launches of these."""
    plan = {
        "version": 2,
        "architecture": "sm_90a",
        "images": [{"library": library, "bytes": content.encode()} for content, library in images],
        "kernels": [
            {"image": image, "name": name, "shared_bytes_max": 0, "carveout": -1, "nonportable_clusters": False}
            for image, name in kernels
        ],
        "memories": [],
        "streams": 1,
        "events": 0,
        "tuned": [],
        "setup": [],
        "run": [
            {
                **{"do": "launch", "stream": 0, "kernel": kernel, "shared_bytes": 0, "parameters": b""},
                **{"grid": [1, 1, 1], "block": [32, 1, 1], "cluster": [0, 0, 0], "addresses": [], "tensor_maps": []},
                **{"cooperative": False, "overlaps": False},
            }
            for kernel in launches
        ],
    }
    return b"hone-recorded-plan-1\n" + packed(plan)


class Sass(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory(dir=BUILD / "tests")
        cls.addClassCleanup(folder.cleanup)
        cls.here = Path(folder.name)
        cls.here.chmod(0o755)
        cls.secret, cls.mark = cls.here / "secret", cls.here / "mark"
        cls.secret.write_text("LEAKED")
        cls.secret.chmod(0o644)
        outer = cls.here / "interpreter"
        venv.create(outer, symlinks=True)
        (packages,) = outer.glob("lib/python*/site-packages")
        tool = packages / "triton/backends/nvidia/bin/nvdisasm"
        tool.parent.mkdir(parents=True)
        (packages / "triton/__init__.py").write_text("raise RuntimeError('it is not imported')\n")
        tool.write_text(NVDISASM.replace("@SECRET@", str(cls.secret)).replace("@MARK@", str(cls.mark)))
        tool.chmod(0o755)
        cls.python = str(outer / "bin/python")

    def sass(self, plan: bytes, *options: str, python: str = "") -> subprocess.CompletedProcess[str]:
        file = self.here / "saved.plan"
        file.write_bytes(plan)
        command = [HONE, "plan", str(file), "--sass", *options, "--set", f"cpu.python={python or self.python}"]
        return subprocess.run(
            command, capture_output=True, text=True, timeout=120, check=False, env={**os.environ, "NO_COLOR": "1"}
        )

    def kernels(self, plan: bytes, status: int = 0) -> list[dict[str, Any]]:
        ran = self.sass(plan, "--json")
        self.assertEqual(ran.returncode, status, ran.stderr)
        found: list[dict[str, Any]] = json.loads(ran.stdout)["sass"]
        return found

    def test_each_kernel_that_is_not_of_torch_is_shown_once_in_the_order_of_its_launches(self) -> None:
        plan = plan_of(
            [("good", "extension.so"), ("good", "libtorch_cuda.so")],
            [(0, "_Z3addPf"), (0, "good"), (1, "good"), (0, "not_launched")],
            [2, 1, 0, 1],
        )
        kernels = self.kernels(plan)
        self.assertEqual([one["kernel"] for one in kernels], ["good", "_Z3addPf"])
        self.assertEqual([one["name"] for one in kernels], ["good", "add(float*)"])
        self.assertEqual([one["steps"] for one in kernels], [[1, 3], [2]])
        self.assertIn("\ngood (steps 1, 3)\n", self.sass(plan).stdout)
        self.assertEqual(kernels[0]["opcodes"], {"EXIT": 1, "LDG": 2})
        self.assertEqual(kernels[0]["instructions"], 3)
        pad = " " * 8
        self.assertEqual(
            kernels[0]["text"],
            f"{pad}LDG.E R0, desc[UR4][R2.64]\n{pad}LDG.E R4, desc[UR4][R6.64]\n{pad}EXIT\n",
        )

    def test_the_table_of_the_plan_comes_first(self) -> None:
        ran = self.sass(plan_of([("good", "")], [(0, "good")], [0]))
        self.assertEqual(ran.returncode, 0, ran.stderr)
        table, _, code = ran.stdout.partition("1 image of code")
        self.assertIn("at every call:", table)
        self.assertIn("\n2 LDG\n\n        LDG.E R0,", code)

    def test_a_plan_with_kernels_of_torch_only_says_so(self) -> None:
        ran = self.sass(plan_of([("good", "libtorch_cuda.so")], [(0, "good")], [0]))
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("the plan has no kernels except torch's", ran.stdout)
        self.assertEqual(self.kernels(plan_of([], [], [])), [])

    def test_a_bad_image_spoils_no_other_kernel(self) -> None:
        images = ["crashes", "endless", "good", "fails"]
        kernels = [(i, name) for i, name in enumerate(images)] + [(2, "missing")]
        plan = plan_of([(name, "") for name in images], kernels, list(range(5)))
        found = {one["kernel"]: one for one in self.kernels(plan, status=1)}
        self.assertIn("nvdisasm ended with signal 11", found["crashes"]["problem"])
        self.assertEqual(found["endless"]["problem"], "its listing has more than 16777216 bytes")
        self.assertEqual(found["good"]["problem"], "")
        self.assertEqual(found["good"]["instructions"], 3)
        self.assertEqual(found["fails"]["problem"], "nvdisasm fatal   : no ?[2Jcode")
        self.assertEqual(found["missing"]["problem"], "its image has no code of this name")
        ran = self.sass(plan)
        self.assertEqual(ran.returncode, 1)
        self.assertIn("\nfails (step 3)\nno machine code: nvdisasm fatal   : no ?[2Jcode\n", ran.stdout)

    def test_nvdisasm_cannot_leave_its_sandbox(self) -> None:
        image = self.here / "outside"
        image.write_text("outside")
        (tool,) = self.here.glob("interpreter/lib/python*/site-packages/triton/backends/nvidia/bin/nvdisasm")
        without = subprocess.run([tool, image], capture_output=True, text=True, timeout=60, check=True).stdout
        self.assertIn("LEAKED", without)
        self.assertIn(" WRITTEN ;", without)
        self.mark.unlink()
        (kernel,) = self.kernels(plan_of([("outside", "")], [(0, "outside")], [0]))
        self.assertEqual(kernel["opcodes"], {"EXIT": 1})
        self.assertFalse(self.mark.exists())

    def test_control_characters_do_not_reach_the_terminal(self) -> None:
        ran = self.sass(plan_of([("control", "")], [(0, "control")], [0]))
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("        LDG.E ?[2J??\n", ran.stdout)
        self.assertEqual([c for c in ran.stdout if c < " " and c != "\n"], [])

    def test_odd_names_of_kernels(self) -> None:
        (kernel,) = self.kernels(plan_of([("good", "")], [(0, "odd;$(id)`")], [0]))
        self.assertEqual((kernel["kernel"], kernel["instructions"]), ("odd;$(id)`", 2))
        ran = self.sass(plan_of([("good", "")], [(0, "\x1b[2J")], [0]))
        self.assertEqual(ran.returncode, 2)
        self.assertIn("expected printable ASCII characters", ran.stderr)

    def test_a_level_is_refused(self) -> None:
        command = [HONE, "plan", "kernelbench/level1", "--sass"]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(ran.returncode, 2)
        self.assertIn("--sass: expected a task or a saved plan, found the level kernelbench/level1", ran.stderr)
        self.assertIn("hone plan kernelbench/level1/1 FILE -c CONFIG --sass", ran.stderr)

    def test_a_missing_nvdisasm_is_named_after_the_plan(self) -> None:
        if shutil.which("nvdisasm") or list(Path("/usr/local").glob("cuda*/bin/nvdisasm")):
            self.skipTest("this machine has a toolkit with nvdisasm")
        bare = self.here / "bare"
        venv.create(bare, symlinks=True)
        ran = self.sass(plan_of([("good", "")], [(0, "good")], [0]), python=str(bare / "bin/python"))
        self.assertEqual(ran.returncode, 3)
        self.assertIn("at every call:", ran.stdout)
        self.assertIn("--sass: found no nvdisasm in Triton's package", ran.stderr)
        self.assertIn("install triton for that interpreter, or a CUDA toolkit", ran.stderr)


if __name__ == "__main__":
    unittest.main()
