"""Sizes in C++: a class over 25 private methods or a function over 70 lines needs a reason here."""

import re
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
METHODS_MAX = 25
LINES_MAX = 70
# Larger ones, each with its reason.
CLASSES: dict[str, str] = {}
FUNCTIONS: dict[str, str] = {}

NOT_CODE = re.compile(
    r"//[^\n]*|/\*.*?\*/|R\"(\w*)\(.*?\)\1\"|\"(?:\\.|[^\"\\\n])*\"|(?<![\w'])'(?:\\.|[^'\\\n])+'", re.DOTALL
)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\\n|\\.)*", re.MULTILINE)
TYPE = re.compile(r"\b(class|struct|union)\s+(?:\w+\([^)]*\)\s*)*(\w+)(?:\s+final)?[^;{}()=]*$")
ACCESS = re.compile(r"\b(public|private|protected)\s*:(?!:)")
NAMESPACE = re.compile(r"\b(namespace\b[^;{}()]*|extern\s*)$")
CONTROL = ("if", "for", "while", "switch", "catch", "return", "do", "else", "try")
NAME = re.compile(r"([~\w:]+|operator[^\s(]+)\s*\(")


def without_text(source: str) -> str:
    """The source with comments, strings and preprocessor lines blanked; every line keeps its number."""
    blank = lambda match: re.sub(r"[^\n]", " ", match[0])  # noqa: E731
    return DIRECTIVE.sub(blank, NOT_CODE.sub(blank, source))


class Scope:
    """What a pair of braces encloses. kind: namespace, type, function or other."""

    def __init__(self, kind: str, name: str, line: int, access: str = "") -> None:
        self.kind, self.name, self.line, self.access = kind, name, line, access
        self.private = 0


def scope_of(head: str, line: int, within: Scope) -> Scope:
    if within.kind in ("function", "other"):
        return Scope("other", "", line)
    if NAMESPACE.search(head):
        return Scope("namespace", "", line)
    if found := TYPE.search(head):
        return Scope("type", found[2], line, "private" if found[1] == "class" else "public")
    named = NAME.search(head)
    if named and named[1] not in CONTROL and "=" not in head.split("(")[0]:
        return Scope("function", named[1], line)
    return Scope("other", "", line)


def sizes_of(source: str) -> tuple[dict[str, int], dict[str, int]]:
    """Private methods of each class, and lines of each function."""
    classes: dict[str, int] = {}
    functions: dict[str, int] = {}
    text = without_text(source)
    scopes = [Scope("namespace", "", 1)]
    head, line, begun, brackets = "", 1, 1, 0
    for mark in text:
        inner = scopes[-1]
        if mark == "\n":
            line += 1
        if not head.strip():
            begun = line
        if mark in "()":
            brackets += 1 if mark == "(" else -1
        if mark == "{" and brackets == 0:
            made = scope_of(head, begun, inner)
            if inner.kind == "type" and made.kind == "function":
                inner.private += inner.access == "private"
            scopes.append(made)
            head = ""
        elif mark == "}" and brackets == 0 and len(scopes) > 1:
            done = scopes.pop()
            if done.kind == "function":
                functions[done.name] = max(functions.get(done.name, 0), line - done.line + 1)
            if done.kind == "type":
                classes[done.name] = done.private
            head = "" if done.kind != "other" else "x"
        elif mark == ";" and brackets == 0:
            if inner.kind == "type" and inner.access == "private" and is_method(head):
                inner.private += 1
            head = ""
        else:
            head += mark
            found = ACCESS.search(head) if inner.kind == "type" and mark == ":" else None
            if found and found.end() == len(head):
                inner.access, head = found[1], ""
    return classes, functions


def is_method(declaration: str) -> bool:
    """Whether a declaration in a class declares a function, not a member that has a value or a function's type."""
    before = declaration.split("=")[0]
    if re.match(r"\s*(using|friend|typedef|static_assert)\b", before):
        return False
    named = re.search(r"(\w+)\s*\([^*]*\)|operator", before)
    return named is not None and "<" not in before[: named.start()].rsplit(" ", 1)[-1]


def sources() -> list[Path]:
    listed = subprocess.run(
        ["git", "-c", f"safe.directory={ROOT}", "ls-files", "--", "core", "plugins", "envs", "clients/cpp"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    return [ROOT / name for name in listed if name.endswith((".hpp", ".cpp")) and (ROOT / name).exists()]


class Sizes(unittest.TestCase):
    def test_large_classes_and_functions_have_a_reason(self) -> None:
        large_classes, large_functions = {}, {}
        for path in sources():
            classes, functions = sizes_of(path.read_text(encoding="utf-8"))
            where = path.relative_to(ROOT).as_posix()
            large_classes |= {f"{where}: {name}": n for name, n in classes.items() if n > METHODS_MAX}
            large_functions |= {f"{where}: {name}": n for name, n in functions.items() if n > LINES_MAX}
        for what, found, reasons, unit in (
            ("class", large_classes, CLASSES, f"private methods, at most {METHODS_MAX}"),
            ("function", large_functions, FUNCTIONS, f"lines, at most {LINES_MAX}"),
        ):
            unexplained = [f"{what} {name}: {n} {unit}" for name, n in found.items() if name not in reasons]
            self.assertEqual([], unexplained, "make it smaller, or add it with a reason to this test's lists")
            self.assertEqual([], sorted(set(reasons) - set(found)), f"a {what} with a reason that needs none")

    def test_sizes_are_counted(self) -> None:
        source = """
namespace n {
class Big : public Base {
 public:
  Big(int a, int b) : a_(a), b_{b} { if (a) { b_ = 2; } }
  int open() const;
 private:
  int one();  // int not_this();
  static Result<std::map<int, int>> two(const std::function<void(int)>& f = nullptr);
  void three() { x = "}{"; }
  const int kept_ = f(2);
  std::function<void(int)> hook_;
  struct Inner { int four(); int v; };
  bool operator()(int x) const;
};
int Big::one() {
  for (;;) {
    auto l = [&](int x) { return x; };
  }

}
}  // namespace n
"""
        classes, functions = sizes_of(source)
        self.assertEqual({"Inner": 0, "Big": 4}, classes)
        self.assertEqual(6, functions["Big::one"])


if __name__ == "__main__":
    unittest.main()
