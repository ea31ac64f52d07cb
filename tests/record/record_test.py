"""The recording driver under torch and Triton, and the names that it must have.

HONE_RECORD_PYTHON: an interpreter with torch for CUDA. Without it, modules of torch are skipped, and Triton runs
without torch in HONE_MODULES_PYTHON or build/python.
"""

import ctypes
import json
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
LIBRARIES = Path(os.environ.get("HONE_BUILD_DIR", ROOT / "build/dev")) / "libexec/record"
TORCH_PYTHON = os.environ.get("HONE_RECORD_PYTHON", "")
TRITON_PYTHON = os.environ.get("HONE_MODULES_PYTHON", "") or str(ROOT / "build/python/bin/python")
PUBLIC_NAME = re.compile(r"(__)?cu(da)?[A-Z]\w*")
# Of other libraries: cuBLAS, cuDNN and so on.
OTHER_NAME = re.compile(r"cu(blas|dnn|sparse|solver|fft|rand|pti|DNN|BLAS|SPARSE|File|file)")


def listed(path: Path) -> list[str]:
    return re.findall(r"^HONE_NOT_SUPPORTED\((\w+)\)$", path.read_text(), re.MULTILINE)


def exported() -> set[str]:
    found = set()
    for name in ("libcuda.so.1", "libcudart.so.13"):
        shown = subprocess.run(["nm", "-D", "--defined-only", LIBRARIES / name], capture_output=True, text=True)
        found |= {line.split()[-1].split("@")[0] for line in shown.stdout.splitlines()}
    return found


def run(python: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """An interpreter that finds the recording driver in the place of the vendor's."""
    with tempfile.TemporaryDirectory() as cache:
        environment = dict(os.environ)
        environment |= {
            "LD_LIBRARY_PATH": str(LIBRARIES),
            "LD_PRELOAD": str(LIBRARIES / "libcudart.so.13"),
            "PYTORCH_NO_CUDA_MEMORY_CACHING": "1",
            "TRITON_LIBCUDA_PATH": str(LIBRARIES),
            "TRITON_CACHE_DIR": cache,
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        return subprocess.run([python, *arguments], env=environment, capture_output=True, text=True, timeout=300)


class Names(unittest.TestCase):
    def test_lists_are_sorted_and_without_repeats(self) -> None:
        for part in ("driver", "runtime"):
            names = listed(ROOT / f"core/record/{part}/not_supported.inc")
            self.assertEqual(names, sorted(set(names)), part)

    def test_every_needed_name_exists(self) -> None:
        lines = (HERE / "needed_names.txt").read_text().splitlines()
        needed = [line for line in lines if not line.startswith("#")]
        self.assertEqual(needed, sorted(set(needed)))
        have = exported()
        driver = ctypes.CDLL(str(LIBRARIES / "libcuda.so.1"))
        for name in needed:
            if name in have:
                continue
            # A name without its version, as programs ask for it.
            function, found = ctypes.c_void_p(), ctypes.c_int()
            driver.cuGetProcAddress_v2(
                name.encode(), ctypes.byref(function), 13000, ctypes.c_uint64(0), ctypes.byref(found)
            )
            self.assertTrue(function.value, name)

    def test_every_name_that_the_installed_torch_links_exists(self) -> None:
        if not TORCH_PYTHON:
            self.skipTest("HONE_RECORD_PYTHON names no interpreter")
        asked = "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"
        folder = subprocess.run([TORCH_PYTHON, "-c", asked], capture_output=True, text=True).stdout.strip()
        libraries = sorted(Path(folder, "lib").glob("libtorch*.so")) + sorted(Path(folder, "lib").glob("libc10*.so"))
        self.assertTrue(libraries)
        needed = set()
        for library in libraries:
            shown = subprocess.run(["nm", "-D", "-u", library], capture_output=True, text=True).stdout
            needed |= {line.split()[-1].split("@")[0] for line in shown.splitlines()}
        needed = {name for name in needed if PUBLIC_NAME.fullmatch(name) and not OTHER_NAME.match(name)}
        self.assertTrue(needed)
        self.assertEqual(needed - exported(), set())


class Modules(unittest.TestCase):
    def recorded(self, module: str) -> dict[str, object]:
        if not TORCH_PYTHON:
            self.skipTest("HONE_RECORD_PYTHON names no interpreter with torch for CUDA")
        ran = run(TORCH_PYTHON, str(HERE / "record_module.py"), str(HERE / "modules" / f"{module}.py"))
        self.assertEqual(ran.returncode, 0, ran.stderr[-2000:])
        found: dict[str, object] = json.loads(ran.stdout.splitlines()[-1])
        return found

    def check_whole(self, module: str) -> None:
        found = self.recorded(module)
        self.assertEqual(found["problem"], "", found)
        self.assertTrue(found["made"] and found["same"] and found["is_result"], found)

    def check_problem(self, module: str, problem: str) -> None:
        found = self.recorded(module)
        self.assertEqual(found["problem"], problem, found)
        self.assertFalse(found["made"])

    def test_kernels_of_torch_and_pinned_memory(self) -> None:
        self.check_whole("relu")

    def test_operators_and_streams(self) -> None:
        self.check_whole("linear")

    def test_triton_under_torch(self) -> None:
        self.check_whole("triton_add")

    def test_a_value_that_is_read_back(self) -> None:
        self.check_problem("read_back", "a value was read back")

    def test_state_that_is_kept(self) -> None:
        self.check_problem("keeping", "keeps state made from an input or a parameter between calls")

    def test_stream_capture(self) -> None:
        self.check_problem("captured", "uses stream capture")

    def test_calls_that_differ(self) -> None:
        found = self.recorded("counting")
        self.assertEqual(found["problem"], "")
        self.assertFalse(found["same"])

    def recorded_without_torch(self, kind: str) -> dict[str, object]:
        if not Path(TRITON_PYTHON).exists():
            self.skipTest(f"{TRITON_PYTHON} does not exist")
        asked = "import triton; print(triton.__version__)"
        version = subprocess.run([TRITON_PYTHON, "-c", asked], capture_output=True, text=True).stdout.split(".")
        if [int(part) for part in version[:2] if part.strip().isdigit()] < [3, 9]:
            self.skipTest(f"Triton {'.'.join(version).strip() or 'missing'}; 3.9 or newer runs without torch")
        ran = run(TRITON_PYTHON, str(HERE / "triton_kernel.py"), kind)
        self.assertEqual(ran.returncode, 0, ran.stderr[-2000:])
        found: dict[str, object] = json.loads(ran.stdout.splitlines()[-1])
        return found

    def test_triton_without_torch(self) -> None:
        plain = {"problem": "", "same": True, "kernels": ["add"], "tuned": [], "setup": 0, "run": [[None, None, 4]]}
        self.assertEqual(self.recorded_without_torch("plain"), plain | {"shared": [0]})

    def test_a_kernel_with_more_shared_memory_than_the_default(self) -> None:
        found = self.recorded_without_torch("large")
        self.assertEqual(found["problem"], "", found)
        (shared,) = found["shared"]  # type: ignore[misc]
        self.assertGreater(shared, 48 << 10)

    def test_each_configuration_of_an_autotuner_that_compiles(self) -> None:
        found = self.recorded_without_torch("tuned")
        self.assertEqual((found["problem"], found["same"], found["setup"]), ("", True, 0), found)
        (tuned,) = found["tuned"]  # type: ignore[misc]
        named = [f"block: {size}, num_warps: 4, num_stages: 3" for size in (256, 128, 512)]
        self.assertEqual((found["kernels"], tuned["configurations"]), (["add"], named))
        (left_out,) = tuned["left_out"]
        self.assertTrue(left_out["configuration"].startswith("block: 2048, "), left_out)
        self.assertTrue(left_out["reason"].startswith("CompileTimeAssertionFailure: "), left_out)
        self.assertEqual(tuned["key"], "count: 1000")
        self.assertEqual(found["run"], [[0, 0, 4], [0, 1, 8], [0, 2, 2]])

    def test_work_that_depends_on_the_choice_differs_between_the_calls(self) -> None:
        found = self.recorded_without_torch("leaking")
        self.assertEqual((found["problem"], found["same"]), ("", False), found)

    def test_a_module_that_reads_the_choice(self) -> None:
        self.assertEqual(self.recorded_without_torch("reading")["problem"], "reads the choice of an autotuner")


if __name__ == "__main__":
    unittest.main()
