"""The rules of .clang-tidy fire: each bad file is refused for its reason, and a good one passes."""

import os
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


@unittest.skipIf(TIDY is None, "clang-tidy-14 is not installed (scripts/setup --tools)")
class Cached(unittest.TestCase):
    """cmake/cached_clang_tidy.py: only a pass is cached, and only for the same text."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        # A wrapper of clang-tidy that counts its runs.
        self.program = self.folder / "tidy"
        counted = f'[ "$1" = --version ] || echo run >> {folder.name}/runs'
        self.program.write_text(f'#!/bin/sh\n{counted}\nexec {TIDY} "$@"\n')
        self.program.chmod(0o755)

    def check(self, source: str, cache: str = "cache") -> tuple[bool, int]:
        """Whether it passes, and how often clang-tidy has run so far."""
        path = self.folder / "sample.cpp"
        path.write_text(source)
        compiler = ["clang++-14", "-std=c++20", "-o", f"{path}.o", "-c", str(path)]
        rules = ["--quiet", f"--config-file={ROOT}/.clang-tidy"]
        ran = subprocess.run(
            [ROOT / "cmake/cached_clang_tidy.py", self.program, *rules, path, "--", *compiler],
            env={**os.environ, "XDG_CACHE_HOME": str(self.folder / cache)},
            capture_output=True,
        )
        return ran.returncode == 0, len((self.folder / "runs").read_text().splitlines())

    def test_a_pass_is_remembered_until_the_text_changes(self) -> None:
        self.assertEqual(self.check(GOOD), (True, 1))
        self.assertEqual(self.check(GOOD), (True, 1))
        self.assertEqual(self.check(GOOD.replace("kLimit = 3", "kLimit = 4")), (True, 2))

    def test_a_mistake_is_found_each_time(self) -> None:
        self.assertEqual(self.check("int BadName() { return 1; }\n"), (False, 1))
        self.assertEqual(self.check("int BadName() { return 1; }\n"), (False, 2))

    def test_what_the_preprocessor_removes_is_part_of_the_text(self) -> None:
        named = "#define SAME(x) (x)\nint twice(int limit);\nint f() { return SAME(twice(/*limit=*/3)); }\n"
        macro = "#define TWICE(x) ((x)+(x))\nint g(int i) { return ((i)+(i)); }\n"
        inactive = "#ifdef __clang_analyzer__\nint good_name() { return 1; }\n#endif\n"
        for good, bad in (
            (named, named.replace("/*limit=*/", "/*count=*/")),
            (macro.replace("(i)", "(i++)"), macro.replace("((i)+(i))", "TWICE(i++)")),
            (inactive, inactive.replace("good_name", "BadName")),
        ):
            self.assertEqual(self.check(good)[0], True, good)
            self.assertEqual(self.check(bad)[0], False, bad)

    def test_a_cache_that_cannot_be_written_changes_nothing(self) -> None:
        (self.folder / "file").write_text("")
        self.assertEqual(self.check(GOOD, "file/cache"), (True, 1))
        self.assertEqual(self.check(GOOD, "file/cache"), (True, 2))

    def test_a_comment_is_part_of_the_text(self) -> None:
        self.assertEqual(self.check("int BadName() { return 1; }  // NOLINT\n"), (True, 1))
        self.assertEqual(self.check("int BadName() { return 1; }\n"), (False, 2))


if __name__ == "__main__":
    unittest.main()
