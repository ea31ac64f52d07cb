"""Outcomes, classes of cheating, verbs and rewards have the same names in the code, the clients and the documents."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def text(path: str) -> str:
    return (ROOT / path).read_text()


def part(path: str, begin: str, end: str) -> str:
    """What stands between two texts of a file."""
    return text(path).split(begin, 1)[1].split(end, 1)[0]


def row(path: str, begin: str) -> set[str]:
    """The names in backticks on the one line that begins so, without what names the line itself."""
    (line,) = [line for line in text(path).splitlines() if line.startswith(begin)]
    return set(re.findall(r"`(\w+)`", line[len(begin) :]))


def gtest_names() -> set[tuple[str, str]]:
    """The suite and the name of each GoogleTest test."""
    test = re.compile(r"^\s*(?:TYPED_|RECORD_)?TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)", re.MULTILINE)
    sources = (ROOT / "tests").rglob("*.cpp")
    return {found for source in sources for found in test.findall(source.read_text())}


class Lists(unittest.TestCase):
    def test_test_names(self) -> None:
        names = gtest_names()
        self.assertIn(("Yaml", "Scalars_FollowTheCoreSchema"), names)
        unsplit = {f"{suite}.{name}" for suite, name in names if "_" not in name.strip("_")}
        self.assertEqual(unsplit, set(), "name a test Suite, Condition_Result")

    def test_outcomes(self) -> None:
        table = part("core/model/verdict.hpp", "kOutcomes[] = {", "\n};")
        rows = re.findall(r'\{Outcome::k\w+,\s*"(\w+)".*?OutcomeRow::(\w+)\}', table, re.DOTALL)
        names = {name for name, _ in rows}
        self.assertIn("correct", names)
        typed = part("clients/python/src/hone/types.py", "Outcome = Literal[", "]")
        self.assertEqual(set(re.findall(r'"(\w+)"', typed)), names)
        style = text("core/web/page/style.css")  # an outcome has no colour, or one for each of the two schemes
        for name in re.findall(r"\.o-(\w+) \{", style):
            self.assertIn(name, names)
            self.assertEqual(len(re.findall(rf"--o-{name}: #", style)), 2, f"{name}: in the light and in the dark")
        built = part("core/include/hone/plugin/reward.hpp", "kBuilt[] = {", "}")
        self.assertEqual(set(re.findall(r'"(\w+)"', built)), {name for name, kind in rows if kind == "kByStage"})
        self.assertEqual(row("docs/verdicts.md", "| `outcome` |"), names)
        self.assertEqual(row("docs/plugins-abi.md", "| `outcome` |"), names)
        self.assertEqual(row("docs/migration/kernelgym.md", "| `compiled`, `correctness` | `verdict.outcome`"), names)
        templates = {path.name.split(".")[0] for path in (ROOT / "envs/kernel_refine/templates").glob("*.md")}
        self.assertLessEqual(names - {"correct"}, templates)
        self.assertLessEqual(
            names - {"correct"}, row("docs/prompts.md", "After each turn the feedback uses the template")
        )

    def test_tools(self) -> None:
        table = part("core/model/examination.hpp", "struct EnumNames<Tool>", "static_assert").split("kNames")[1]
        names = set(re.findall(r'"(\w+)"', table))
        self.assertIn("profile", names)
        documented = part("docs/tools.md", "## The tools", "\n## ")
        self.assertEqual(set(re.findall(r"^\| `(\w+)` \|", documented, re.MULTILINE)), names)
        uses = part("clients/python/src/hone/adapters/mcp.py", "TOOL_USES = {", "}")
        self.assertEqual(set(re.findall(r'"(\w+)"', uses)), names)

    def test_caught(self) -> None:
        names = set(re.findall(r'constexpr char k\w+\[\] = "(\w+)";', text("core/model/caught.hpp")))
        self.assertIn("second_look", names)
        table = part("docs/verdicts.md", "## What was caught", "\n## ")
        self.assertEqual(set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) - {"caught"}, names)

    def test_flags(self) -> None:
        constants = dict(re.findall(r'constexpr char (k\w+)\[\] = "(\w+)";', text("core/model/flags.hpp")))
        listed = re.findall(r"k\w+", part("core/model/flags.hpp", "kAll[] = {", "}"))
        names = {constants[constant] for constant in listed}
        self.assertEqual(set(constants.values()) - names, {"machine_noisy"})  # a verdict never has it
        table = part("docs/verdicts.md", "## Flags of a speedup", "\n## ")
        self.assertEqual(set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)), names)
        code = text("core/judge/timing/speedup.cpp")
        for constant, flag in (("kNoisyWidth", "noisy"), ("kFloorUnsteady", "floor_unsteady")):
            (bound,) = re.findall(rf"\b{constant} = ([\d.]+);", code)
            (line,) = [line for line in text("docs/verdicts.md").splitlines() if line.startswith(f"| `{flag}` |")]
            self.assertIn(f" {round(100 * float(bound))} % ", line)

    def test_verbs(self) -> None:
        facts = dict(
            re.findall(r'VerbFacts kVerb\{\s*\.name = "(\w+)"(.*?)\};', text("core/wire/requests.hpp"), re.DOTALL)
        )
        names = set(facts)
        self.assertIn("step", names)

        def having(fact: str) -> set[str]:
            return {name for name, said in facts.items() if fact in said}

        beginning, on_control = having(".begins_episode = true"), having("Endpoints::kControl")
        requests = text("clients/python/src/hone/_requests.py")
        for constant, expected in (("BEGIN_EPISODE", beginning), ("OF_ONE_SERVER", on_control)):
            (listed,) = re.findall(rf"^{constant} = \((.*)\)", requests, re.MULTILINE)
            self.assertEqual(set(re.findall(r'"(\w+)"', listed)), expected, constant)
        held = part("clients/python/src/core.cpp", " held_(verb", "{}")
        self.assertEqual(set(re.findall(r'== "(\w+)"', held)), beginning | {"step"})
        self.assertEqual(row("docs/protocol.md", "| control |"), on_control | having("Endpoints::kBoth"))
        self.assertEqual(row("docs/protocol.md", "| main |"), on_control, "the verbs that it does not serve")
        headings = re.findall(r"^### (.+)$", part("docs/protocol-reference.md", "\n## Verbs\n", "\n## "), re.MULTILINE)
        self.assertEqual({verb for heading in headings for verb in heading.split(", ")}, names)
        sources = [*(ROOT / "clients/python/src").rglob("*.py"), *(ROOT / "clients/cpp/src").glob("*.cpp")]
        asked = {
            verb for path in sources for verb in re.findall(r'\b(?:Request|request|call)\("(\w+)"', path.read_text())
        }
        self.assertIn("reset", asked)
        self.assertLessEqual(asked, names)

    def test_rewards(self) -> None:
        names = {path.parent.name for path in (ROOT / "plugins/rewards").glob("*/CMakeLists.txt")}
        table = part("docs/rewards.md", "# Rewards that ship", "| parameter |")
        self.assertEqual(set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)), names)
        for name in names:
            exported = re.search(r'HONE_EXPORT_REWARD\([\w:]+, "(\w+)"', text(f"plugins/rewards/{name}/{name}.cpp"))
            self.assertEqual(exported and exported[1], name)

    def test_backends(self) -> None:
        vendors = re.search(r"set\(HONE_GPU_VENDORS (.+)\)", text("plugins/backends/gpu/CMakeLists.txt"))
        folders = {path.parent.name for path in (ROOT / "plugins/backends").glob("*/CMakeLists.txt")}
        names = folders - {"gpu"} | set(vendors[1].split() if vendors else [])
        table = part("docs/backends.md", "| backend | submissions are |", "\n\n")
        self.assertEqual(set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)), names)


if __name__ == "__main__":
    unittest.main()
