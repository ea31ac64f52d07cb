"""hone's command line: output, exit codes, and real evaluations."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("HONE_BUILD_DIR", ROOT / "build/dev")).resolve()
HONE = str(BUILD / "hone")
GOLDEN = ROOT / "envs/kernel_refine/tasks/add_relu/golden"
QUICK = [
    *("--set", "evaluate.measure={pairs_min: 3, pairs_max: 3, seconds_max: 0.2, round_ms: 1, singles: 1, set_mb: 16}"),
    *("--set", "evaluate.max_interval=0"),  # few rounds on a busy machine give a wide interval
]


def hone(
    *arguments: object, cwd: Path | None = None, environment: dict[str, str] | None = None, timeout: float = 240
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [HONE, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=timeout,
        cwd=cwd,
        env=environment or {**os.environ, "NO_COLOR": "1"},
    )


class Plain(unittest.TestCase):
    def test_options_of_a_mix_that_do_not_go_together_are_named(self) -> None:
        for given, said in (
            (["modules", "--run", "runs/first"], "--run: needs --level, too"),
            (["modules", "--level", 1], "--level: needs --run, too"),
            (["modules", "--in-flight", 4], "--in-flight: needs --run or --traces, too"),
            (["modules", "--trace", "kernelbook_632"], "--trace: needs --traces, too"),
            (["step", "--traces", "traces.json"], "--traces: allowed only with modules, not with step"),
            (
                ["modules", "--traces", "traces.json", "--source", "x.py"],
                "--source: cannot be combined with --run or --traces",
            ),
        ):
            ran = hone("bench", *given)
            self.assertEqual((ran.returncode, ran.stdout, said in ran.stderr), (2, "", True), ran)

    def test_every_command_has_help_with_examples(self) -> None:
        listed = re.findall(r"^  ([a-z]+)  ", hone("--help").stdout, re.MULTILINE)
        self.assertEqual(
            listed,
            [
                "serve",
                "status",
                "metrics",
                "top",
                "web",
                "demo",
                "eval",
                "tasks",
                "profile",
                "tool",
                "plan",
                "prompt",
                "rollout",
                "gateway",
                "kernelbench",
                "plugins",
                "validate",
                "new",
                "episodes",
                "export",
                "rescore",
                "replay",
                "branch",
                "view",
                "report",
                "journal",
                "traces",
                "keys",
                "verdicts",
                "bench",
                "doctor",
                "config",
                "completion",
                "help",
                "version",
            ],
        )
        for command in listed:
            ran = hone(command, "--help")
            self.assertEqual(ran.returncode, 0)
            self.assertRegex(ran.stdout, rf"Examples:\n\s+.*hone {command}")

    def test_nothing_is_coloured_in_a_pipe(self) -> None:
        environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
        for arguments in (["tasks"], ["plugins"], ["doctor"], ["config"]):
            ran = hone(*arguments, environment=environment)
            self.assertNotIn("\033", ran.stdout + ran.stderr)

    def test_mistakes_say_what_to_do_and_exit_with_2(self) -> None:
        for arguments, message in (
            (["serv"], "hone: unknown command 'serv'; did you mean 'serve'?"),
            (["tasks", "sofmax"], "did you mean 'softmax'?\n  list all tasks: hone tasks"),
            (["eval", "add_relu", "/nonexistent.cpp"], "hone: open /nonexistent.cpp: no such file or directory"),
            (["config", "--set", "server.lease_s=0"], "lease_s: found 0, expected 1 to 86400"),
            (["plugins", "kevni"], "unknown plugin 'kevni'; did you mean 'kevin'?"),
            (["new", "reward", "Bad-Name"], "Bad-Name"),
            (["completion", "tcsh"], "unknown value 'tcsh'"),
        ):
            with self.subTest(arguments):
                ran = hone(*arguments)
                self.assertEqual(ran.returncode, 2, ran.stderr)
                self.assertIn(message, ran.stderr)

    def test_set_takes_one_value_and_is_named_in_its_errors(self) -> None:
        for arguments in (
            ["--set", "server.lease_s=60", ROOT / "configs/laptop.yaml"],
            [ROOT / "configs/laptop.yaml", "--set", "server.lease_s=60", "--set", "server.drain_s=5"],
        ):
            ran = hone("config", "--json", *arguments)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            self.assertEqual(json.loads(ran.stdout)["config"]["server"]["lease_s"], 60)
        ran = hone("config", "--set", "sever.lease_s=60")
        self.assertEqual(ran.returncode, 2)
        self.assertIn("hone: --set sever.lease_s=60: unknown key 'sever'; did you mean 'server'?", ran.stderr)

    def test_prompt_shows_every_message(self) -> None:
        ran = hone("prompt", "add_relu", "--hardware", "a small machine")
        self.assertRegex(ran.stdout, r"^\[system\]\nYou are .*\n(.*\n)+\n\[user\]\n# Add, then ReLU\n")
        self.assertIn("- The machine: a small machine.\n", ran.stdout)
        self.assertNotIn("a small machine", hone("prompt", "add_relu", "--hardware", "auto").stdout)
        self.assertIn("- The machine: ", hone("prompt", "add_relu", "--hardware", "auto").stdout)
        messages = json.loads(hone("prompt", "add_relu", "--language", "c", "--json").stdout)
        self.assertEqual([message["role"] for message in messages], ["system", "user"])
        self.assertIn("one complete source file in a fenced code block (```c)", messages[0]["content"])

    def test_prompt_shows_feedback(self) -> None:
        for turn, said in (
            ("wrong", "its results are wrong: "),
            ("unscored", "a fault of the machine"),
            ("fast", "Speedup 3.00"),
        ):
            (message,) = json.loads(hone("prompt", "add_relu", "--feedback", turn, "--json").stdout)
            self.assertEqual(message["role"], "user")
            self.assertIn(said, message["content"])
        ran = hone("prompt", "add_relu", "--feedback", "climb")
        self.assertEqual((ran.returncode, ran.stdout), (2, ""))
        self.assertIn("hone: --feedback: unknown turn 'climb'; valid: no_code, ", ran.stderr)

    def test_examples_in_prompts_compile(self) -> None:
        device = "struct { int x; } blockIdx, threadIdx;\nvoid __syncthreads();\n"
        macros = ["-D__global__=", "-D__shared__=static"]
        for backend, language, compiler, given in (
            ("cpu", "c++", ["g++", "-x", "c++"], ""),
            ("cpu", "c", ["gcc", "-x", "c"], ""),
            ("cuda", "cuda", ["g++", "-x", "c++", *macros], device),
            ("hip", "hip", ["g++", "-x", "c++", *macros], device),
        ):
            chosen = ["--form", "few_shot", "--language", language, "--set", f"backend={backend}"]
            ran = hone("prompt", "add_relu", "--json", *chosen)
            text = json.loads(ran.stdout)[1]["content"].partition("\n# Add, then ReLU")[0]
            answers = [code for code in re.findall(r"```\w+\n(.*?)```", text, re.DOTALL) if "{" in code]
            self.assertEqual(len(answers), 2, text)
            for code in answers:
                with self.subTest(language):
                    standard = "-std=c++20" if "c++" in compiler else "-std=c17"
                    command = [*compiler, standard, "-Wall", "-Werror", "-fsyntax-only", "-"]
                    built = subprocess.run(command, input=given + code, capture_output=True, text=True, timeout=60)
                    self.assertEqual(built.returncode, 0, built.stderr)

    def test_rollout_says_what_it_needs(self) -> None:
        for interpreter, said in (("/nonexistent/python", "No such file"), ("false", "cannot import hone.rollout")):
            ran = hone("rollout", "--url", "x", environment={**os.environ, "HONE_PYTHON": interpreter})
            self.assertIn(said, ran.stderr)
            self.assertIn("pip install './clients/python[rollout]'", ran.stderr)
            self.assertNotEqual(ran.returncode, 0)

    def test_rollout_hands_everything_on(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            stand_in = Path(folder) / "python"
            stand_in.write_text('#!/bin/sh\n[ "$1" = -c ] && exit 0\nprintf "<%s>" "$@"\nexit 3\n')
            stand_in.chmod(0o755)
            ran = hone("rollout", "--tasks", "a b", "--json", environment={**os.environ, "HONE_PYTHON": str(stand_in)})
            self.assertEqual((ran.stdout, ran.returncode), ("<-m><hone.rollout><--tasks><a b><--json>", 3))

    def test_what_cannot_be_written_is_a_fault(self) -> None:
        for arguments in (["tasks"], ["config", "--keys"], ["--help"]):
            with self.subTest(arguments), open("/dev/full", "w") as full:
                ran = subprocess.run([HONE, *arguments], stdout=full, stderr=subprocess.PIPE, text=True)
                self.assertEqual(ran.returncode, 3)
                self.assertEqual(ran.stderr, "hone: standard output could not be written\n")

    def test_hints_are_about_the_mistake(self) -> None:
        ran = hone("config", "/nonexistent.yaml")
        self.assertEqual(ran.returncode, 2)
        self.assertEqual(ran.stderr, "hone: open /nonexistent.yaml: no such file or directory\n")
        ran = hone("tasks", "soft")
        self.assertNotIn("describe", ran.stderr)
        self.assertIn("list all tasks: hone tasks", ran.stderr)
        # The example of an ipc socket in the help is one that hone takes.
        (example,) = re.findall(r"mkdir -m 700 \S+ && hone serve (.+)", hone("serve", "--help").stdout)
        self.assertIn("ipc:///tmp/hone/", example)

    def test_tasks(self) -> None:
        listed = json.loads(hone("tasks", "--json").stdout)
        self.assertGreaterEqual(len(listed), 16)
        self.assertEqual(hone("tasks", "--ids").stdout.split(), [task["id"].split("/")[1] for task in listed])
        shown = hone("tasks", "add_relu").stdout
        self.assertIn('extern "C" void add_relu(const float* x, const float* y, float* out, int64_t n)', shown)
        self.assertNotIn("hidden:", shown)
        self.assertNotIn("reference.cpp", shown)

    def test_plugins(self) -> None:
        names = {plugin["name"]: plugin for plugin in json.loads(hone("plugins", "--json").stdout)}
        rewards = [path.parent.name for path in (ROOT / "plugins/rewards").glob("*/CMakeLists.txt")]
        for name in (*rewards, "tasks", "cpu"):
            self.assertEqual(names[name]["error"], "")
        self.assertRegex(hone("plugins", "kevin").stdout, r"gamma\s+float")
        self.assertEqual(names["kevin"]["runs_in"], "hone")

    def test_a_reward_in_python_from_template_to_figures(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            here = Path(folder)
            self.assertEqual(hone("new", "reward", "mine", "--python", cwd=here).returncode, 0)
            self.assertEqual(hone("new", "reward", "mine", "--python", cwd=here).returncode, 2)
            checked = hone("validate", "mine.py", "--json", cwd=here)
            self.assertEqual(checked.returncode, 0, checked.stdout)
            self.assertTrue(json.loads(checked.stdout)["ok"])
            scored = json.loads(hone("verdicts", "fast", "climb", "--reward", "mine.py", "--json", cwd=here).stdout)
            self.assertEqual([one["name"] for one in scored], ["fast", "climb"])
            self.assertEqual(len(scored[1]["report"]["turns"]), 4)
            (here / "hone.yaml").write_text("reward:\n  name: mine.py\n  config: {bonus: 0.5}\n")
            listed = json.loads(hone("plugins", "-c", here / "hone.yaml", "--json").stdout)
            self.assertRegex(listed[-1]["runs_in"], r"^plugin host, Python 3\.\d+")
            (here / "mine.py").write_text("class Reward:\n    def score(self, episode):\n        return [1 / 0]\n")
            failed = hone("verdicts", "fast", "--reward", "mine.py", cwd=here)
            self.assertEqual(failed.returncode, 1)
            self.assertIn("mine: score: mine.py:3: ZeroDivisionError: division by zero", failed.stdout)
            self.assertIn("Traceback", failed.stderr)
            self.assertEqual(hone("validate", "mine.py", cwd=here).returncode, 1)

    def test_verdicts(self) -> None:
        names = hone("verdicts", "--list").stdout.split()
        shown = json.loads(hone("verdicts", "--json").stdout)
        self.assertEqual(names, [one["name"] for one in shown])
        self.assertEqual(shown[0]["episode"]["turns"][0]["turn"], 1)
        for reward in ("kevin", "tritonforge"):
            self.assertEqual(hone("verdicts", "--reward", reward).returncode, 0)
        self.assertIn("did you mean 'climb'?", hone("verdicts", "clim").stderr)

    def test_config_round_trips(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "hone.yaml"
            file.write_text(hone("config").stdout)
            first = json.loads(hone("config", "--json").stdout)
            second = json.loads(hone("config", file, "--json").stdout)
            self.assertEqual(first["config"], second["config"])
            self.assertEqual(set(first["origins"].values()), {"default"})
            self.assertTrue(second["origins"]["/server/lease_s"].startswith(f"{file}:"))
        self.assertIn("server.limits.source_bytes", hone("config", "--keys").stdout)

    def test_config_checks_what_it_names_and_says_where(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "hone.yaml"
            for text, message in (
                ("reward:\n  name: kevni", ":2: reward: unknown reward 'kevni'; did you mean 'kevin'?"),
                ("reward:\n  name: kevin\n  config:\n    gama: 1", ":4: reward: kevin: create: config: unknown key"),
                ("datasets:\n- name: a\n  config: {path: x}", f":3: dataset 'a': tasks: open: {folder}/x: expected"),
                ("server:\n  endpoint: tcp://127.0.0.1", ":2: endpoint: tcp://127.0.0.1: found no port"),
                ("server:\n  control: ipc:///tmp/x", ":2: control: ipc:///tmp/x: folder /tmp: found mode"),
                ("isolation:\n  slots: 8", ":2: isolation.slots: found 8, expected at least"),
                ("plugins:\n  paths: [nowhere]", f":2: plugins.paths: {folder}/nowhere: no such file or folder"),
                ("plugins:\n  paths:\n  - .\n  - my.py", f":4: plugins.paths: {folder}/my.py: no such file or folder"),
            ):
                for command in ("config", "serve"):
                    with self.subTest(text, command=command):
                        file.write_text(text + "\n")
                        ran = hone(command, file)
                        self.assertEqual(ran.returncode, 2, ran.stderr)
                        self.assertIn(f"hone: {file}{message}", ran.stderr)
                        self.assertNotIn("hone doctor", ran.stderr)
            file.write_text("plugins:\n  paths: [.]\nevaluate:\n  builders: 200\n")
            ran = hone("config", file, "--json")
            self.assertEqual(ran.returncode, 0, ran.stderr)
            self.assertIn(f"{file}:2: plugins.paths: {folder}/: found no plugin; expected .so or .py files", ran.stderr)
            self.assertGreater(json.loads(ran.stdout)["config"]["isolation"]["slots"], 400)
            for command in ("plugins", "tasks", "doctor"):
                with self.subTest(command=command):
                    ran = hone(command, "--set", "plugins.paths=[absent.so]")
                    self.assertEqual(ran.returncode, 2, ran.stderr)
                    self.assertIn("absent.so: no such file or folder", ran.stderr)

    def test_doctor(self) -> None:
        ran = hone("doctor", "--json")
        found = json.loads(ran.stdout)
        self.assertEqual(ran.returncode, 0 if found["serves"] else 1)
        named = {finding["what"]: finding for finding in found["findings"]}
        for what in (
            "isolation",
            "freezer",
            "jails",
            "landlock",
            "c++ compiler",
            "cpus",
            "clock source",
            "huge pages",
            "memory",
        ):
            self.assertIn(what, named)
        self.assertIn("a bug of the kernel behind an allowed call", found["not_stopped"])
        if found["isolation"] != "private":
            self.assertGreater(len(found["not_stopped"]), 2)
        for finding in found["findings"]:
            if finding["state"] == "missing":
                self.assertTrue(finding["advice"], finding)

    def test_new_plugins_build_and_are_valid(self) -> None:
        for kind in ("reward", "reward-c", "dataset", "backend"):
            with self.subTest(kind), tempfile.TemporaryDirectory() as folder:
                here = Path(folder)
                made = hone("new", kind, "my_own", cwd=here)
                self.assertEqual(made.returncode, 0, made.stderr)
                self.assertEqual(hone("new", kind, "my_own", cwd=here).returncode, 2)
                self.assertIn("cmake -G Ninja ", made.stdout)  # the one that scripts/setup installs
                build = made.stdout.splitlines()[1]
                subprocess.run(["bash", "-c", build], cwd=here, check=True, capture_output=True)
                ran = hone("validate", "my_own/build/my_own.so", cwd=here)
                self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
                # What it says to use it with does.
                (use,) = re.findall(r"use it: hone serve (.+)$", ran.stdout, re.MULTILINE)
                used = subprocess.run(["bash", "-c", f"{HONE} config {use}"], cwd=here, capture_output=True, text=True)
                self.assertEqual(used.returncode, 0, used.stderr)
                self.assertIn({"dataset": "plugin: ", "backend": "backend=my_own"}.get(kind, "reward.name="), use)
                self.assertIn("my_own 0.1.0 is valid" if "0.1.0" in ran.stdout else "is valid", ran.stdout)
                listed = json.loads(
                    hone("plugins", "--json", "--set", f"plugins.paths=[{here}/my_own/build/my_own.so]").stdout
                )
                self.assertIn("my_own", [plugin["name"] for plugin in listed])

    def test_validate_says_no(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "empty.so"
            file.write_bytes(b"")
            ran = hone("validate", file)
            self.assertEqual(ran.returncode, 1, ran.stderr)
            self.assertIn("is not valid", ran.stdout)


class Real(unittest.TestCase):
    def test_demo(self) -> None:
        ran = hone("demo", "--json", "--set", "evaluate.max_interval=0")  # other tests use the machine, too
        self.assertEqual(ran.returncode, 0, ran.stderr)
        turns = [json.loads(line) for line in ran.stdout.splitlines()]
        self.assertEqual([turn["outcome"] for turn in turns], ["wrong", "crashed", "correct", "correct"])
        self.assertEqual([turn["turn"] for turn in turns], [1, 2, 3, 4])
        for turn in turns:
            self.assertLessEqual({"turn", "outcome", "speedup", "reward", "return_to_date"}, set(turn))
            self.assertTrue(turn["reward_valid"])
        self.assertIn("elements", turns[0]["feedback"])
        self.assertIn("SIG", turns[1]["reason"])
        self.assertTrue(turns[3]["truncated"])
        shown = hone("demo", "--show-source", *QUICK)
        self.assertIn('extern "C" void add_relu', shown.stdout)
        (program,) = re.findall(r"To serve your trainer: (\S+) serve", shown.stdout.splitlines()[-1])
        self.assertTrue(os.path.samefile(program, HONE), program)

    def test_serve_says_where_and_stops_when_told(self) -> None:
        server = subprocess.Popen(
            [HONE, "serve", "--json", "--endpoint", "tcp://127.0.0.1:0", "--control", ""],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert server.stdout is not None
        said = json.loads(server.stdout.readline())
        self.assertRegex(said["endpoint"], r"^tcp://127\.0\.0\.1:[1-9]\d*$")
        self.assertEqual(said["control"], "")
        self.assertIn("isolation", said["description"])
        second = hone("serve", "--endpoint", said["endpoint"], "--control", "")
        self.assertEqual(second.returncode, 3)
        self.assertIn("in use\n  if another server runs, choose other endpoints with --endpoint", second.stderr)
        server.send_signal(signal.SIGTERM)
        _, log = server.communicate(timeout=60)
        self.assertEqual(server.returncode, 0, log)
        self.assertIn("all steps were answered", log)
        self.assertIn("a second SIGINT or SIGTERM stops at once", log)

    def test_serve_refuses_what_is_not_loopback(self) -> None:
        ran = hone("serve", "--endpoint", "tcp://0.0.0.0:0")
        self.assertNotEqual(ran.returncode, 0)
        self.assertIn("0.0.0.0", ran.stderr)


if __name__ == "__main__":
    if not Path(HONE).exists():
        sys.exit(f"no hone in {BUILD}: build the preset dev, or set HONE_BUILD_DIR")
    unittest.main()
