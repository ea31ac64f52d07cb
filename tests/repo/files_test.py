"""Rules for every file: the first line states its purpose; no path or name of a machine; no vendor names."""

import re
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# What hone names of vendors stands where it must: a backend and its tasks, the isolation of one, and documentation.
VENDORS = re.compile(r"\b(nvidia|cuda|cudnn|cublas|hip|rocm|amd|h100|h200|a100|mi300)\b", re.IGNORECASE)
VENDOR_NEUTRAL = ("core", "envs", "clients", "configs", "scripts")
VENDOR_TASKS = "envs/kernel_refine/tasks/"  # a task says what each backend has
# A comment that says what a neutral part must be able to carry for a vendor is no dependency on one.
VENDOR_ALLOWED: dict[str, str] = {
    "envs/kernel_refine/answer/tags.cpp": "models write these names behind fences",
    "configs/cuda.yaml": "the configuration of a backend",
    "configs/hip.yaml": "the configuration of a backend",
    "core/candidate/module/shared/describe_interpreter.py": "torch calls every device so",
    "core/candidate/module/builder/disassemble_images.py": "where each vendor's tools are installed",
    "core/candidate/module/builder/known_extension.py": "what torch's compilers build, one for each vendor",
    "core/candidate/module/builder/module_absent_device.py": "Triton's compilers, one for each vendor",
    "core/candidate/module/shared/module_compile.py": "torch's compilers, one for each vendor",
    "core/candidate/module/shared/module_extension.py": "torch calls every device so",
    "core/candidate/module/shared/module_phrases.py": "words of the vendors' compilers",
    "core/candidate/module/shared/module_place.py": "torch calls every device so",
    "core/candidate/module/shared/module_tf32.py": "torch calls its switches so",
    "core/candidate/module/shared/vendor_operators.py": "torch calls its operators so",
    "core/candidate/module/builder/record_operators.py": "torch calls its operators so",
    "core/candidate/module/builder/record_recurrent.py": "torch calls its operators so",
    "core/candidate/module/device/replay_operators.py": "torch calls every device so",
    "core/candidate/module/device/module_state.py": "torch calls every device so",
    "core/candidate/module/shared/module_toolkits.py": "torch's compilers, one for each vendor",
    "core/candidate/module/builder/dry_run_module.py": "torch calls every device so",
    "core/candidate/module/shared/module_environment.py": "what a driver reads of the environment",
    "core/candidate/module/trimmed/ATen/cuda/CUDAContext.h": "a header of torch's",
    "core/candidate/module/trimmed/ATen/cuda/CUDAContextLight.h": "a header of torch's",
    "core/bench/plain_modules.py": "torch calls every device so",
    "core/gateway/tritonforge.cpp": "the words of TritonForge's server",
    "core/gateway/tritonforge_words.hpp": "the words of TritonForge's requests",
    "scripts/hip-validate": "what an owner of one vendor's device runs",
    "scripts/lib.bash": "the packages of each compiler",
    "scripts/setup": "the packages of each compiler",
}
MACHINE = re.compile(r"(?<![\w.])/(?:home|root|work|Users)/[\w.-]+|\b[\w-]+\.(?:internal|corp|lan)\b")
TORCHS_NAMES = "core/candidate/module/trimmed/"  # headers in the place of torch's
HONEST_KERNELS = "tests/adversarial/honest/"  # each name starts with the task's id and a dot
CODE = {".h", ".hpp", ".c", ".cpp", ".py", ".cmake", ".bash", ".sh", ".yaml"}


def tracked() -> list[Path]:
    """Files that git knows or would add."""
    listed = subprocess.run(
        ["git", "-c", f"safe.directory={ROOT}", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split("\n")
    return [ROOT / line for line in listed if line and (ROOT / line).is_file()]


def text_of(path: Path) -> str:
    return path.read_text(errors="replace")


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


def first_words(path: Path) -> str:
    """The first line, or the second after a #! line or a C comment's opening."""
    lines = text_of(path).split("\n")
    start = 1 if lines[0].startswith("#!") else 0
    return lines[start]


def opens_with_a_sentence(path: Path) -> bool:
    line = first_words(path)
    return bool(re.match(r'^\s*(//|/\*|#|"""|--)\s*\S+.*\w', line))


class Files(unittest.TestCase):
    def setUp(self) -> None:
        self.files = tracked()
        self.assertGreater(len(self.files), 50)

    def test_the_first_line_says_what_a_file_is_for(self) -> None:
        found = []
        for path in self.files:
            name = relative(path)
            if path.suffix not in CODE or path.name == "__init__.py":
                continue
            if name.startswith(("envs/kernel_refine/tasks/", "tests/adversarial/", "tests/fixtures/")):
                continue
            if not opens_with_a_sentence(path):
                found.append(f"{name}: {first_words(path)!r}")
        self.assertEqual(found, [])

    def test_no_file_names_a_machine(self) -> None:
        found = []
        for path in self.files:
            if relative(path) == "tests/repo/files_test.py":
                continue
            for number, line in enumerate(text_of(path).split("\n"), 1):
                if match := MACHINE.search(line):
                    found.append(f"{relative(path)}:{number}: {match.group()}")
        self.assertEqual(found, [])

    def test_neutral_parts_name_no_vendor(self) -> None:
        found = []
        for path in self.files:
            name = relative(path)
            neutral = name.startswith(VENDOR_NEUTRAL) and not name.startswith(VENDOR_TASKS)
            if not neutral or name in VENDOR_ALLOWED:
                continue
            for number, line in enumerate(text_of(path).split("\n"), 1):
                if match := VENDORS.search(line):
                    found.append(f"{name}:{number}: {match.group()}")
        self.assertEqual(found, [])

    def test_each_file_that_may_name_a_vendor_does(self) -> None:
        self.assertEqual([name for name in VENDOR_ALLOWED if not VENDORS.search(text_of(ROOT / name))], [])

    def test_no_conflict_marker_or_trailing_space(self) -> None:
        found = []
        for path in self.files:
            if path.suffix not in CODE:
                continue
            for number, line in enumerate(text_of(path).split("\n"), 1):
                if re.match(r"^(<<<<<<< |>>>>>>> )", line) or line != line.rstrip():
                    found.append(f"{relative(path)}:{number}")
        self.assertEqual(found, [])

    def test_scripts_are_strict_and_explain_themselves(self) -> None:
        for path in (ROOT / "scripts").iterdir():
            if path.suffix == ".bash":
                continue
            text = text_of(path)
            self.assertTrue(text.startswith("#!/usr/bin/env bash\n# "), path.name)
            self.assertIn("\nset -euo pipefail\n", text, path.name)
            shown = subprocess.run([str(path), "--help"], cwd="/", capture_output=True, text=True, check=True)
            self.assertIn(f"Usage: scripts/{path.name}", shown.stdout + shown.stderr)
            self.assertEqual([line for line in shown.stdout.split("\n") if len(line) > 80], [], path.name)

    def test_scripts_refuse_unknown_options(self) -> None:
        for name in ("setup", "test", "format", "bundle", "fuzz", "wheel"):
            ran = subprocess.run([str(ROOT / "scripts" / name), "--nope"], capture_output=True, text=True)
            self.assertEqual(ran.returncode, 2, name)
            self.assertIn("unknown option '--nope'", ran.stderr)


class Names(unittest.TestCase):
    def test_files_and_folders_are_snake_case(self) -> None:
        found = [
            relative(path)
            for path in tracked()
            if relative(path).startswith(("core/", "plugins/", "envs/", "clients/cpp/src/", "tests/"))
            and path.suffix in {".h", ".hpp", ".c", ".cpp", ".py"}
            and not re.fullmatch(r"[a-z0-9_]+|__init__|conftest", path.stem)
            and not relative(path).startswith(TORCHS_NAMES)
            and not (relative(path).startswith(HONEST_KERNELS) and re.fullmatch(r"[a-z0-9_]+\.[a-z0-9_]+", path.stem))
        ]
        self.assertEqual(found, [])

    def test_nothing_is_called_manager_helper_or_util(self) -> None:
        found = []
        for path in tracked():
            if path.suffix in {".hpp", ".cpp", ".h", ".c"} and relative(path).startswith(
                ("core/", "plugins/", "envs/")
            ):
                found += [
                    f"{relative(path)}: {name}"
                    for name in re.findall(r"\b(?:class|struct)\s+(\w*(?:Manager|Helper|Utils?)\w*)", text_of(path))
                ]
        self.assertEqual(found, [])


if __name__ == "__main__":
    unittest.main()
