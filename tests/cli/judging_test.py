"""Real evaluations from the command line: hone eval and hone tasks --admit."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from xml.etree import ElementTree

from cli_test import GOLDEN, HONE, QUICK, hone


class Judging(unittest.TestCase):
    def test_eval_judges_many_files(self) -> None:
        files = [GOLDEN / "correct_fast.cpp", GOLDEN / "demo_1_wrong.cpp", GOLDEN / "build_typo.cpp"]
        ran = hone("eval", "add_relu", *files, "--json", *QUICK)
        self.assertEqual(ran.returncode, 1, ran.stderr)
        listed = json.loads(ran.stdout)
        self.assertEqual([entry["verdict"]["outcome"] for entry in listed], ["correct", "wrong", "build_failed"])
        self.assertEqual([entry["file"] for entry in listed], [str(file) for file in files])
        self.assertGreater(listed[0]["verdict"]["speedup"]["value"], 0)
        self.assertEqual([entry["reward"] for entry in listed[1:]], [0.1, 0.0])

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "only root can become somebody else")
    def test_eval_and_doctor_work_for_an_ordinary_user(self) -> None:
        # Not 65534: the kernel shows it for all unmapped users of a user namespace.
        somebody = ["setpriv", "--reuid", "12345", "--regid", "12345", "--clear-groups"]
        doctor = subprocess.run([*somebody, HONE, "doctor", "--json"], capture_output=True, text=True, timeout=60)
        found = json.loads(doctor.stdout)
        if not found["serves"] and found["isolation"] == "none":
            self.skipTest("without root this machine has no sandbox")
        self.assertEqual({f["state"] for f in found["findings"] if f["what"] == "jails"}, {"ok"}, doctor.stdout)
        ran = subprocess.run(
            [*somebody, HONE, "eval", "add_relu", GOLDEN / "correct_fast.cpp", *QUICK],
            capture_output=True,
            text=True,
            timeout=240,
            cwd="/",
        )
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)

    def test_eval_prints_a_table_and_the_compilers_words(self) -> None:
        ran = hone("eval", "add_relu", GOLDEN / "build_typo.cpp", *QUICK)
        self.assertEqual(ran.returncode, 1, ran.stderr)
        self.assertRegex(ran.stdout, r"build_typo\.cpp\s+build_failed")
        self.assertIn("error:", ran.stdout)
        self.assertEqual(hone("eval", "add_relu", GOLDEN / "correct_fast.cpp", *QUICK).returncode, 0)

    def test_eval_takes_files_apart_as_a_step_does(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            here = Path(folder)
            (here / "empty.cpp").write_text("")
            (here / "binary.cpp").write_bytes(Path(HONE).read_bytes()[:20000])
            (here / "long.cpp").write_text("// " + "x" * (300 << 10))
            code = (GOLDEN / "correct_slow.cpp").read_text()
            (here / "answer.md").write_text(f"<think>Hm.</think>Here:\n\n```cpp\n{code}\n```\nIt adds.\n")
            names = ["empty.cpp", "binary.cpp", "long.cpp", "answer.md"]
            files = [*names, GOLDEN / "demo_1_wrong.cpp"]
            ran = hone("eval", "add_relu", *files, "--json", *QUICK, cwd=here)
            listed = json.loads(ran.stdout)
            self.assertEqual(
                [entry["verdict"]["outcome"] for entry in listed],
                ["no_code", "rejected", "rejected", "correct", "wrong"],
            )
            self.assertIn("not text: byte 0x7f at offset 0", listed[1]["verdict"]["reason"])
            self.assertIn("at most 262144 are allowed", listed[2]["verdict"]["reason"])
            shown = hone("eval", "add_relu", *files, *QUICK, cwd=here)
            self.assertEqual(shown.returncode, 1)
            self.assertLess(len(shown.stdout), 4000)
            self.assertRegex(shown.stdout, r"the worst is at \[\d+\]: got \S+, expected \S+\.")

    def test_eval_knows_a_source_from_an_answer(self) -> None:
        code = (GOLDEN / "correct_slow.cpp").read_text()
        with tempfile.TemporaryDirectory() as folder:
            here = Path(folder)
            (here / "fenced_comment.cpp").write_text(f"/* Call it so:\n```cpp\nadd_relu(x);\n```\n*/\n{code}")
            (here / "tagged.txt").write_text(f"<think>\nHm.\n</think>\n<kernel>\n{code}\n</kernel>\n")
            (here / "fenced.cpp").write_text(f"```cpp\n{code}\n```\n")
            ran = hone("eval", "add_relu", "fenced_comment.cpp", "tagged.txt", "fenced.cpp", "--json", *QUICK, cwd=here)
        self.assertEqual([entry["verdict"]["outcome"] for entry in json.loads(ran.stdout)], ["correct"] * 3, ran.stdout)

    def test_eval_refuses_options_that_would_say_nothing(self) -> None:
        file = GOLDEN / "correct_slow.cpp"
        for options, words in {
            ("--language", "rust"): "--language: found rust, expected c++ or c, the languages of the task",
            ("--p", "1"): "--p: allowed only with the folder of a level",
            ("--again",): "--again: allowed only with the folder of a level",
        }.items():
            ran = hone("eval", "add_relu", file, *options)
            self.assertEqual((ran.returncode, ran.stdout), (2, ""), ran.stderr)
            self.assertIn(words, ran.stderr)
        for options in (["--language", "python"], ["--reward", "kevin"]):
            ran = hone("eval", "kernelbench/level1", GOLDEN, *options)
            self.assertEqual(ran.returncode, 2)
            self.assertIn(f"{options[0]}: not allowed with the folder of a level; give files", ran.stderr)
        ran = hone("tasks", "add_relu", "--level", 1)
        self.assertEqual(ran.returncode, 2)
        self.assertIn("--level cannot be combined with a task", ran.stderr)

    def test_eval_of_one_file_says_what_a_model_is_told(self) -> None:
        wrong = (GOLDEN / "demo_1_wrong.cpp").read_text()
        ran = subprocess.run(
            [HONE, "eval", "add_relu", "-", *QUICK], input=wrong, capture_output=True, text=True, timeout=240
        )
        self.assertEqual(ran.returncode, 1, ran.stderr)
        self.assertRegex(ran.stdout, r"standard input\s+wrong")
        self.assertIn("Correct results come first: find the cause before you make it faster.", ran.stdout)
        # Three pairs of very short rounds are noisy, and the line of the speedup reports it.
        shown = hone("eval", "add_relu", GOLDEN / "correct_slow.cpp", *QUICK).stdout
        self.assertRegex(shown.splitlines()[0], r"ms\s+note$")
        for flags in re.findall(r"^Flags: (.+)", shown, re.MULTILINE):
            self.assertTrue(shown.splitlines()[1].endswith(flags), shown)

    def test_profile_draws_a_roofline(self) -> None:
        tasks = GOLDEN.parents[1]
        with tempfile.TemporaryDirectory() as folder:
            picture = Path(folder) / "roofline.svg"
            profile = ("profile", "matmul", tasks / "matmul/baseline.cpp")
            ran = hone(*profile, "--roofline", picture, *QUICK)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            self.assertIn(f"Roofline: {picture}", ran.stdout)
            drawn = picture.read_text()
            self.assertRegex(drawn, r"kernel: \S+ GFLOP/s, \S+ % of the roof")
            self.assertRegex(drawn, r"memory: \S+ [GM]B/s")
            ElementTree.fromstring(drawn)
            # Not the findings: whether they name the arithmetic depends on how busy the memory is.
            facts = json.loads(hone(*profile, "--json", *QUICK).stdout)["facts"]
            self.assertEqual(facts["flops"], 65_536_000)
            self.assertGreater(facts["flops_per_second"], 0)
            picture.unlink()
            ran = hone("profile", "transpose", tasks / "transpose/baseline.cpp", "--roofline", picture, *QUICK)
            self.assertEqual((ran.returncode, ran.stdout), (3, ""))
            self.assertIn("task transpose has no 'flops'", ran.stderr)
            self.assertFalse(picture.exists())

    def test_doctor_takes_a_file_by_its_option_alone(self) -> None:
        ran = hone("doctor", "server.yaml")
        self.assertEqual((ran.returncode, ran.stdout), (2, ""), ran.stderr)
        self.assertIn("hone doctor -c server.yaml", ran.stderr)

    def test_admission_of_one_task(self) -> None:
        ran = hone("tasks", "--admit", "add_relu", "--json", *QUICK)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        report = json.loads(ran.stdout)
        self.assertTrue(report["admitted"])
        self.assertFalse(any(answer["passes"] for answer in report["lazy"]))
        self.assertIn("rounded to bfloat16", [answer["answer"] for answer in report["lazy"]])
        self.assertEqual(len(report["golden"]), len(list(GOLDEN.glob("*.c*"))) - len(list(GOLDEN.glob("*.cu"))))
        self.assertTrue(all(golden["as_expected"] for golden in report["golden"]))

    def test_admission_refuses_with_reasons(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for name, change in (
                ("wide", ("task.yaml", "rtol: 2.4e-7", "rtol: 1e-2")),
                ("wrong_baseline", ("baseline.cpp", "out[i] =", "out[i] = 1 +")),
                ("no_reference", ("reference.cpp", "#include", "#error not yet\n#include")),
                ("other_golden", ("golden/wrong_tail.cpp", "// expect: wrong", "// expect: crashed")),
                ("bad_golden", ("golden/wrong_tail.cpp", "// expect: wrong", "// expects nothing")),
            ):
                task = Path(folder) / name
                shutil.copytree(GOLDEN.parent, task)
                for golden in (task / "golden").iterdir():
                    if golden.name != "wrong_tail.cpp":
                        golden.unlink()
                file, old, new = change
                text = (task / file).read_text()
                self.assertIn(old, text)
                (task / file).write_text(text.replace(old, new, 1))
            mine = f"datasets=[{{name: mine, config: {{path: {folder}}}}}]"
            ran = hone("tasks", "--admit", "--set", mine, *QUICK)
            self.assertEqual(ran.returncode, 1, ran.stdout + ran.stderr)
            for reason in (
                "wide: an answer rounded to bfloat16 passes every check",
                "wrong_baseline: the baseline: found wrong",
                "no_reference: the reference of task no_reference does not build",
                "other_golden: golden/wrong_tail.cpp: found wrong",
                "bad_golden: golden/wrong_tail.cpp:1: found '// expects nothing'",
            ):
                self.assertIn("\n" + reason, ran.stdout)
            self.assertNotIn("admitted", ran.stdout)

    def test_what_the_linker_refuses_is_not_the_compilers(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "links_not.cpp"
            text = (GOLDEN / "correct_slow.cpp").read_text()
            file.write_text(text + "\nvoid nowhere();\nvoid here() { nowhere(); }\n")
            ran = hone("eval", "add_relu", file, *QUICK)
            self.assertEqual(ran.returncode, 1, ran.stderr)
            self.assertIn("the linker refused it", ran.stdout.splitlines()[1])
            self.assertIn("link error: undefined reference to `nowhere()'", ran.stdout)


if __name__ == "__main__":
    if not Path(HONE).exists():
        sys.exit(f"no hone at {HONE}: build the preset dev, or set HONE_BUILD_DIR")
    unittest.main()
