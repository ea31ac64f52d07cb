"""A backend from `hone new backend`: it is built, validated, judged with, and passes the one list of cases."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

BUILD = Path(os.environ["HONE_BUILD_DIR"])
NAME = "tiny_device"
MEASURE = ("--set", "evaluate.measure={set_mb: 1, round_ms: 0.5, pairs_min: 3, pairs_max: 3, singles: 1}")
MEASURE += ("--set", "evaluate.max_interval=0")  # few rounds on a busy machine give a wide interval

# The formula of core/judge/known_answer.cpp, on 2048 elements in blocks of 256.
KNOWN_ANSWER_CHECK = """
int main() {
  static uint32_t x[2048], y[2048];
  for (uint32_t i = 0; i < 2048; ++i) x[i] = i * 2654435761u;
  const uint32_t grid[] = {8, 1, 1}, block[] = {256, 1, 1};
  const uint64_t values[] = {reinterpret_cast<uint64_t>(x), reinterpret_cast<uint64_t>(y), 2048};
  kernel_language::Kernel<&hone_known_answer>::run(grid, block, values);
  for (uint32_t i = 0; i < 2048; ++i) {
    const uint32_t mirrored = i / 256 * 256 + (255 - i % 256);
    if (y[i] != (x[mirrored] * factors[mirrored % 8] ^ mirrored)) return 1;
  }
  return factors[7] == 0xD3A2646Du ? 0 : 2;
}
"""


def run(command: list[str], cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "NO_COLOR": "1", "PATH": f"{BUILD}:{os.environ['PATH']}", **variables}
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300, env=environment)


class Template(unittest.TestCase):
    folder: tempfile.TemporaryDirectory[str]
    root: Path

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.root = Path(cls.folder.name)
        made = run(["hone", "new", "backend", NAME], cls.root)
        assert made.returncode == 0, made.stderr
        cls.build, cls.validate, cls.evaluate = (line.strip() for line in made.stdout.splitlines()[1:])
        built = run(["bash", "-c", cls.build], cls.root)
        assert built.returncode == 0, built.stdout + built.stderr

    def judge(self, sources: list[str], *more: str) -> list[dict[str, Any]]:
        """The verdicts on sources, from the command that `hone new` prints."""
        paths = [self.root / f"kernel_{number}.cpp" for number in range(len(sources))]
        for path, source in zip(paths, sources, strict=True):
            path.write_text(source)
        example = f"{NAME}/tasks/double_it/baseline.cpp"
        self.assertIn(example, self.evaluate)
        command = self.evaluate.replace(example, " ".join(map(str, paths))).split()
        ran = run([*command, "--json", *MEASURE, *more], self.root)
        self.assertIn(ran.returncode, (0, 1), ran.stderr)
        judged = json.loads(ran.stdout)
        self.assertEqual([Path(each["file"]).name for each in judged], [path.name for path in paths])
        for each in judged:
            self.assertIn("verdict", each, each)
        return [each["verdict"] for each in judged]

    def kernel(self) -> str:
        return (self.root / NAME / "tasks/double_it/baseline.cpp").read_text()

    def test_no_name_of_the_template_is_left(self) -> None:
        for path in (self.root / NAME).rglob("*"):
            if not path.is_file() or {"build", "include"} & set(path.parts):
                continue
            self.assertNotIn("my_backend", path.read_text(), path)

    def test_validation_has_no_warnings(self) -> None:
        checked = run([*self.validate.split(), "--json"], self.root)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
        outcomes = {one["id"]: one["outcome"] for one in json.loads(checked.stdout)["checks"]}
        self.assertEqual(set(outcomes.values()), {"passed"}, outcomes)

    def test_each_outcome_is_found(self) -> None:
        # One command, because each builds the reference and the baseline, and starts a machine.
        right = self.kernel()
        plan = (
            "// hone: scratch twice = 4 * n\n"
            "// hone: launch scale<2> grid = 3 block = 64 args = x, twice, n\n"
            "// hone: launch scale<1> grid = 3 block = 64 args = twice, out, n\n"
            "template <int by> __global__ void scale(const float* x, float* out, int64_t n) {\n"
            "  for (int64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)\n"
            "    out[i] = by * x[i];\n"
            "}\n"
        )
        changed = [
            right.replace("x[i] + x[i]", other) for other in ("x[i]", "out[int64_t{1} << 40]", "y[i]", "x[i] * 2.0f")
        ]
        self.assertEqual(len({right, *changed}), 5)
        verdicts = self.judge([right, plan, *changed])
        outcomes = [verdict["outcome"] for verdict in verdicts]
        # The last one shows that a crash harms no later submission.
        self.assertEqual(outcomes, ["correct", "correct", "wrong", "crashed", "build_failed", "correct"], verdicts)
        self.assertGreater(verdicts[0]["speedup"]["value"], 0)
        self.assertIn("submission.cpp:4:", verdicts[4]["diagnostics"])

    def test_a_key_of_its_own_reaches_its_builds(self) -> None:
        source = self.kernel().replace("x[i] + x[i]", "FACTOR * x[i]")
        [verdict] = self.judge([source], "--set", f"{NAME}.flags=[-DFACTOR=2]")
        self.assertEqual(verdict["outcome"], "correct", verdict)

    def test_its_known_answer_is_the_judges(self) -> None:
        # hone asks it of processes that serve several submissions. Those of the template serve one.
        source = (self.root / NAME / "backend.cpp").read_text()
        language, known_answer = re.findall(r'R"text\((.*?)\)text"', source, re.DOTALL)
        (self.root / "known.cpp").write_text(language + known_answer + KNOWN_ANSWER_CHECK)
        built = run(["g++", "-std=c++20", "known.cpp", "-o", "known"], self.root)
        self.assertEqual(built.returncode, 0, built.stderr)
        self.assertEqual(run(["./known"], self.root).returncode, 0)

    def test_it_passes_the_one_list_of_cases(self) -> None:
        tested = f"{NAME} host {self.root}/{NAME}/build/{NAME}.so"
        ran = run(
            [str(BUILD / "tests/backend_conformance_test")],
            self.root,
            HONE_TESTED_BACKEND=tested,
            HONE_TESTED_COMPILER="/usr/bin/g++",
        )
        self.assertEqual(ran.returncode, 0, ran.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
