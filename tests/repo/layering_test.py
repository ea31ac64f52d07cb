"""The include graph of core/: floors, the trust boundary, one includer per library, and what plugins may see."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# A folder may include itself and what stands on a lower floor. docs/architecture.md has the same list.
FLOORS: dict[str, int] = {
    "include/hone": 0,
    "base": 0,
    "model": 1,
    "plugin": 2,
    "config": 2,
    "record": 2,
    "sandbox": 2,
    "channel": 2,
    "terminal": 2,
    "examine": 2,
    "plugin_host": 3,
    "candidate": 3,
    "builder": 3,
    "player": 3,
    "judge_protocol": 3,
    "wire": 3,
    "journal": 3,
    "conformance": 4,
    "judge": 4,
    "evaluate": 5,
    "episode": 6,
    "server": 7,
    "http": 7,
    "gateway": 8,
    "web": 8,
    "app": 8,
    "doctor": 9,
    "integrations": 9,
    "offline": 10,
    "bench": 10,
    "cli": 11,
}
# Folders of one floor that may include each other all the same, with the reason.
SAME_FLOOR: dict[tuple[str, str], str] = {}
# What each side of the trust boundary may include, in addition to itself. The other side and the host are in none.
TRUST_BOUNDARY: dict[str, set[str]] = {
    "candidate": {"include/hone", "base", "channel", "plugin", "sandbox", "model"},
    "builder": {"include/hone", "base", "channel", "plugin", "sandbox", "model"},
    "player": {"include/hone", "base", "channel", "plugin", "sandbox", "model"},
    "judge": {"include/hone", "base", "channel", "plugin", "sandbox", "model", "judge_protocol"},
    # Its libraries are loaded into interpreters that run submissions.
    "record": {"include/hone"},
}
# Headers of each third-party library, and the one file that includes it in each product.
LIBRARIES: dict[str, tuple[str, dict[str, str]]] = {
    "zmq": (r"zmq(_addon)?\.h(pp)?", {"core": "core/server/socket.cpp", "clients/cpp": "clients/cpp/src/link.cpp"}),
    "msgpack": (r"msgpack(\.hpp|\.h|/.*)", {"core": "core/model/msgpack_codec.cpp"}),
    "yaml-cpp": (r"yaml-cpp/.*", {"core": "core/config/yaml.cpp"}),
    "spdlog": (r"spdlog/.*", {"core": "core/base/log.cpp"}),
    "sqlite3": (r"sqlite3(ext)?\.h", {"core": "core/journal/database.cpp"}),
    "libsodium": (r"sodium(\.h|/.*)", {"core": "core/base/crypto.cpp"}),
    "nlohmann-json": (r"nlohmann/.*", {"core": "core/model/json_codec.cpp"}),
    "CLI11": (r"CLI/.*", {"core": "core/cli/command_line.cpp"}),
    "libseccomp": (r"seccomp\.h", {"core": "core/sandbox/seccomp_filter.cpp"}),
    "cpp-httplib": (r"httplib\.h", {"core": "core/http/http_server.cpp"}),
    "libffi": (r"ffi\.h", {"plugins": "plugins/backends/cpu/device.cpp"}),
}
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)


def sources(folder: Path) -> list[Path]:
    return sorted(path for ending in ("h", "hpp", "c", "cpp") for path in folder.rglob(f"*.{ending}"))


def includes(text: str) -> list[tuple[str, str]]:
    return INCLUDE.findall(text)


def folder_of(path: str) -> str | None:
    """The folder of core/ that an include like "base/result.hpp" names."""
    if path.startswith("hone/"):
        return "include/hone"
    first = path.split("/")[0]
    return first if "/" in path and first in FLOORS else None


def may_include(source: str, target: str) -> bool:
    if source == target:
        return True
    if source in TRUST_BOUNDARY:
        return target in TRUST_BOUNDARY[source]
    # Rationale: base implements the codes of abi.h, and the ABI's headers know nothing of hone.
    if source == "base":
        return target == "include/hone"
    if source == "include/hone":
        return False
    # The host hands judges their jobs and nothing else: it may see both sides' messages, never the other way round.
    return FLOORS[target] < FLOORS[source] or (source, target) in SAME_FLOOR


def breaches(source: str, text: str) -> list[str]:
    found = []
    for _, path in includes(text):
        target = folder_of(path)
        if target is not None and not may_include(source, target):
            found.append(f"{source} includes {path}")
    return found


# A namespace's beginning or end, or the head of a class that is defined at the namespace's level.
SCOPES = re.compile(
    r"^(?:(?P<opens>namespace [\w:]*) ?\{|(?P<closes>\}  // namespace)|"
    r"(?:struct|class) (?:(?:HONE_\w+(?:\([^)]*\))?|\[\[\w+\]\]) )*(?P<name>[\w:]+)[^;\n]*\{)",
    re.MULTILINE,
)


def classes(text: str) -> set[str]:
    """The full names of the classes that a file defines and other files can see."""
    found, open_namespaces = set(), [""]
    for match in SCOPES.finditer(text):
        if match["opens"]:
            open_namespaces.append(match["opens"].removeprefix("namespace").strip())
        elif match["closes"]:
            open_namespaces.pop()
        elif "" not in open_namespaces[1:]:
            found.add("::".join([*open_namespaces[1:], match["name"]]))
    return found


def defined_twice(files: dict[str, str]) -> dict[str, list[str]]:
    """Class names that several files define, with the files. Specialisations of EnumNames are ignored."""
    found: dict[str, list[str]] = {}
    for path, text in files.items():
        for name in classes(text):
            found.setdefault(name, []).append(path)
    return {name: paths for name, paths in found.items() if len(paths) > 1 and not name.endswith("EnumNames")}


class Layering(unittest.TestCase):
    def test_a_class_name_has_one_definition(self) -> None:
        """The linker merges inline constructors of classes with the same name, without a warning."""
        files = {str(path.relative_to(ROOT)): path.read_text() for path in sources(ROOT / "core")}
        self.assertEqual(defined_twice(files), {})

    def test_two_definitions_are_found(self) -> None:
        one, same = "namespace hone {\nstruct Finding {\n", "namespace hone {\nclass HONE_X(1) Finding final {\n"
        self.assertEqual(defined_twice({"a": one, "b": same}), {"hone::Finding": ["a", "b"]})
        for other in (
            "namespace hone {\nnamespace {\nstruct Finding {\n",
            "namespace hone::judge {\nstruct Finding {\n",
            "namespace hone {\nstruct Finding;\n",
            "namespace hone {\nstruct Job::Finding {\n",
        ):
            self.assertEqual(defined_twice({"a": one, "b": other}), {}, other)
        self.assertTrue(
            defined_twice({"a": one, "b": "namespace hone {\nnamespace {\n}  // namespace\nstruct Finding {\n"})
        )

    def test_every_folder_of_core_has_a_floor(self) -> None:
        folders = {path.name for path in (ROOT / "core").iterdir() if path.is_dir()} - {"include"}
        self.assertEqual(folders, set(FLOORS) - {"include/hone"})

    def test_the_architecture_page_has_the_same_floors(self) -> None:
        page = (ROOT / "docs/architecture.md").read_text()
        rows = re.findall(r"^\| (\d+) \| `core/([\w/]+)` \|", page, re.MULTILINE)
        self.assertEqual({folder: int(floor) for floor, folder in rows}, FLOORS)

    def test_core_includes_lower_floors_only(self) -> None:
        found = []
        for folder in FLOORS:
            for path in sources(ROOT / "core" / folder):
                found += [f"{path.relative_to(ROOT)}: {breach}" for breach in breaches(folder, path.read_text())]
        self.assertEqual(found, [])

    def test_the_rule_catches_a_breach(self) -> None:
        self.assertTrue(breaches("base", '#include "model/value.hpp"'))
        self.assertTrue(breaches("judge", '#include "candidate/main.hpp"'))
        self.assertTrue(breaches("candidate", '#include "judge/judge.hpp"'))
        self.assertTrue(breaches("judge", '#include "evaluate/evaluator.hpp"'))
        self.assertTrue(breaches("config", '#include "plugin/registry.hpp"'))
        self.assertTrue(breaches("episode", '#include "server/server.hpp"'))
        self.assertFalse(breaches("server", '#include "episode/service.hpp"\n#include "base/log.hpp"'))

    def test_the_trust_boundary_holds_at_link_time(self) -> None:
        """A program's libraries are its CMake DEPENDS: neither side links the other or the host."""
        rule = re.compile(r"hone_(?:library|program)\(\s*([\w-]+)(.*?)\)", re.DOTALL)
        depends: dict[str, set[str]] = {}
        for path in (ROOT / "core").glob("*/CMakeLists.txt"):
            for name, body in rule.findall(path.read_text()):
                named = re.search(r"DEPENDS\s+([\w\s-]+?)(?:LINK|$)", body)
                depends[name] = set(named.group(1).split()) if named else set()

        def closure(name: str) -> set[str]:
            reached: set[str] = set()
            waiting = [name]
            while waiting:
                for one in depends.get(waiting.pop(), set()) - reached:
                    reached.add(one)
                    waiting.append(one)
            return reached

        host = {"hone_evaluate", "hone_episode", "hone_server", "hone_wire", "hone_config", "hone_cli"}
        for program in ("hone-judge", "hone-candidate", "hone-builder", "hone-player", "hone-launcher"):
            self.assertIn(program, depends)
            self.assertFalse(closure(program) & host, program)
        self.assertNotIn("hone_judge", closure("hone-candidate"))
        self.assertNotIn("hone_candidate", closure("hone-judge"))

    def test_plugins_see_the_abi_alone(self) -> None:
        found = []
        for path in sources(ROOT / "plugins"):
            for _, target in includes(path.read_text()):
                folder = folder_of(target)
                if folder not in (None, "include/hone") or ".." in target:
                    found.append(f"{path.relative_to(ROOT)}: {target}")
        self.assertEqual(found, [])

    def test_the_abi_is_valid_c_and_knows_nothing_of_hone(self) -> None:
        for path in sources(ROOT / "core/include/hone"):
            for mark, target in includes(path.read_text()):
                self.assertTrue(mark == "<" or target.startswith("hone/"), f"{path.name}: {target}")


class Libraries(unittest.TestCase):
    def test_each_library_has_one_includer_in_each_product(self) -> None:
        for library, (headers, allowed) in LIBRARIES.items():
            pattern = re.compile(headers)
            found: dict[str, list[str]] = {}
            for product in ("core", "envs", "plugins", "clients/cpp"):
                for path in sources(ROOT / product):
                    if any(pattern.fullmatch(target) for _, target in includes(path.read_text())):
                        found.setdefault(product, []).append(str(path.relative_to(ROOT)))
            self.assertEqual(found, {product: [path] for product, path in allowed.items()}, library)

    def test_no_header_shows_a_third_party_type(self) -> None:
        patterns = [re.compile(headers) for headers, _ in LIBRARIES.values()]
        for product in ("core", "envs", "clients/cpp"):
            for path in sources(ROOT / product):
                if path.suffix == ".cpp":
                    continue
                for _, target in includes(path.read_text()):
                    self.assertFalse(any(p.fullmatch(target) for p in patterns), f"{path.relative_to(ROOT)}: {target}")


if __name__ == "__main__":
    unittest.main()
