"""The rules of .clang-tidy fire: each bad file is refused for its reason, and a good one passes."""

import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TIDY = shutil.which("clang-tidy-14")

GOOD = """// A file that keeps the rules.
namespace hone {
constexpr int kLimit = 3;
class Counter {
 public:
  int next_value() { return value_ += kLimit; }
 private:
  int value_ = 0;
};
}  // namespace hone
int main() { hone::Counter counter; return counter.next_value(); }
"""
BAD = {
    "class in snake_case": ("class bad_name { int value_ = 0; };", "invalid case style for class 'bad_name'"),
    "function in CamelCase": ("int BadName() { return 1; }", "invalid case style for function 'BadName'"),
    "variable in camelCase": (
        "int f() { int badName = 1; return badName; }",
        "invalid case style for variable 'badName'",
    ),
    "private member without _": ("class A { int value = 0; };", "invalid case style for private member 'value'"),
    "enumerator without k": ("enum class A { Red };", "invalid case style for enum constant 'Red'"),
    "function of 80 lines": ("int f(int x) {\n" + "  x += 1;\n" * 80 + "  return x;\n}", "exceeds recommended size"),
    "use after move": (
        "#include <string>\n#include <utility>\nstd::size_t f(std::string s) {\n"
        "  std::string t = std::move(s);\n  return s.size() + t.size();\n}",
        "'s' used after it was moved",
    ),
    "integer division": ("double f(int a, int b) { return a / b; }", "result of integer division used in a floating"),
    "an if with nothing in it": (
        "int f(int x) {\n  if (x > 0);\n    x = 1;\n  return x;\n}",
        "potentially unintended semicolon",
    ),
}


@unittest.skipIf(TIDY is None, "clang-tidy-14 is not installed (scripts/setup --tools)")
class Tidy(unittest.TestCase):
    def check(self, source: str) -> subprocess.CompletedProcess[str]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "sample.cpp"
            path.write_text(source)
            return subprocess.run(
                [str(TIDY), "--quiet", f"--config-file={ROOT}/.clang-tidy", str(path), "--", "-std=c++20"],
                capture_output=True,
                text=True,
            )

    def test_a_good_file_passes(self) -> None:
        ran = self.check(GOOD)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)

    def test_each_rule_fires(self) -> None:
        for name, (source, reason) in BAD.items():
            with self.subTest(name):
                ran = self.check(source + "\n")
                self.assertNotEqual(ran.returncode, 0, name)
                self.assertIn(reason, ran.stdout)


if __name__ == "__main__":
    unittest.main()
