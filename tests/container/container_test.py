"""hone under the default conditions of `docker run`, with a developer's build in the file system of this machine."""

import contextlib
import json
import os
import re
import subprocess
import tempfile
import time
import unittest
from collections.abc import Iterator
from pathlib import Path

import dockerfile
from default_conditions import Conditions, Container, can_run

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("HONE_BUILD_DIR", ROOT / "build/dev")).resolve()
HERE = ROOT / "docs/operations/container"
# Not the image's user: RLIMIT_NPROC counts the processes of a user in all containers, and another copy of this test may
# be running.
USER = 100000 + os.getpid() % 100000
GOLDEN = "/srv/hone/share/tasks/add_relu/golden/demo_4_fused.cpp"
QUICK = [
    *("--set", "evaluate.measure={pairs_min: 3, pairs_max: 3, seconds_max: 0.2, round_ms: 1, singles: 1}"),
    *("--set", "evaluate.max_interval=0"),  # few rounds on a busy machine give a wide interval
]
# Calls that Docker refuses, and files that it makes read-only. Prints what is allowed nevertheless.
TRIES = r"""
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
NEWNS, NEWUSER, NEWPID, CLONE = 0x20000, 0x10000000, 0x20000000, 56
tried = {
    "unshare": libc.unshare(NEWNS | NEWUSER),
    "clone": libc.syscall(CLONE, NEWUSER | NEWPID | 17, 0, 0, 0, 0),
    "mount": libc.mount(b"none", b"/tmp", b"tmpfs", 0, None),
    "setns": libc.setns(0, 0) if ctypes.get_errno() == 1 else 0,
    "cgroup": -1 if os.statvfs("/sys/fs/cgroup").f_flag & os.ST_RDONLY else 0,
    "sysctl": -1 if os.statvfs("/proc/sys").f_flag & os.ST_RDONLY else 0,
}
status = dict(line.split(":\t", 1) for line in open("/proc/self/status").read().splitlines() if ":\t" in line)
shm = os.statvfs("/dev/shm")
print([name for name, result in tried.items() if result != -1], os.getuid(), int(status["CapEff"], 16),
      shm.f_blocks * shm.f_frsize >> 20)
"""
THREADS = """
import threading
for _ in range(199): threading.Thread(target=threading.Event().wait).start()
print(threading.active_count(), "threads", flush=True)
"""


class Files(unittest.TestCase):
    def setUp(self) -> None:
        self.stages = dockerfile.stages((ROOT / "Dockerfile").read_text())

    def test_the_build_stage_uses_the_scripts_and_the_last_one_has_what_a_server_needs(self) -> None:
        build, last = self.stages
        self.assertTrue(all(run.startswith("scripts/") for run in build.all_of("RUN")), build.all_of("RUN"))
        self.assertEqual(last.base, "debian:12-slim")
        for keyword in ("USER", "VOLUME", "HEALTHCHECK", "ENTRYPOINT", "CMD"):
            self.assertEqual(len(last.all_of(keyword)), 1, keyword)
        self.assertEqual(last.all_of("USER"), ["5917:5917"])
        self.assertIn("g++", " ".join(last.all_of("RUN")))

    def test_what_the_dockerfile_copies_is_in_the_build_context(self) -> None:
        patterns = dockerfile.ignore_patterns(ROOT)
        for stage in self.stages:
            for words in (text.split() for text in stage.all_of("COPY")):
                source = next(word for word in words if not word.startswith("--"))
                if source == "." or any(word.startswith("--from") for word in words):
                    continue
                self.assertTrue((ROOT / source).exists(), source)
                self.assertFalse(dockerfile.ignored(source, patterns), source)

    def test_dockerignore_leaves_out_builds_and_keeps_sources(self) -> None:
        patterns = dockerfile.ignore_patterns(ROOT)
        for path in (
            ".git/HEAD",
            "build/dev/hone",
            "tests/repo/__pycache__/a.pyc",
            "clients/python/hone_rl.egg-info/x",
        ):
            self.assertTrue(dockerfile.ignored(path, patterns), path)
        for path in ("CMakeLists.txt", "core/builder/main.cpp", "scripts/bundle", "cmake/hone_build.cmake"):
            self.assertFalse(dockerfile.ignored(path, patterns), path)

    def test_an_unknown_instruction_is_reported(self) -> None:
        (stage,) = dockerfile.stages("FROM debian:12-slim\nRUN a \\\n  # a comment\n  && b\nSHELL x\n")
        self.assertEqual(stage.all_of("RUN"), ["a   && b"])
        stage.instructions.pop(0)
        with tempfile.TemporaryDirectory() as folder:
            try:
                dockerfile.apply(stage, dockerfile.Image(folder), ROOT, {}, Path(folder) / "log")
                self.fail("no error")
            except ValueError as error:
                self.assertIn("SHELL: this instruction is not supported here", str(error))

    def test_a_stop_may_take_longer_than_a_drain(self) -> None:
        drain = int(re.findall(r"drain_s: (\d+)", (HERE / "server.yaml").read_text())[0])
        for name, key in (
            ("kubernetes.yaml", "terminationGracePeriodSeconds: "),
            ("compose.yaml", "stop_grace_period: "),
            ("hone.service", "TimeoutStopSec="),
        ):
            self.assertGreater(int(re.findall(rf"{key}(\d+)", (HERE / name).read_text())[0]), drain, name)


@unittest.skipIf(can_run(), f"cannot make containers here: {can_run()}")
class Default(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.here = Path(folder.name)
        self.volume = self.here / "volume"
        self.volume.mkdir()
        os.chown(self.volume, 0, USER)
        self.volume.chmod(0o2775)  # as Kubernetes makes it with fsGroup
        self.binds = {
            "/srv/hone": str(BUILD),
            "/srv/start": str(HERE / "start"),
            "/etc/hone/server.yaml": str(HERE / "server.yaml"),
            "/var/lib/hone": str(self.volume),
        }

    def conditions(self, *argv: str) -> Conditions:
        return Conditions(
            root="/",
            argv=list(argv),
            env={"PATH": "/srv/hone:/usr/bin:/bin"},
            user=USER,
            workdir="/var/lib/hone",
            binds=self.binds,
            read_only=[path for path in self.binds if path != "/var/lib/hone"],
            capabilities=[],
            no_new_privileges=True,
        )

    def ran(self, *argv: str) -> subprocess.CompletedProcess[str]:
        container = Container(self.conditions(*argv), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            output, errors = container.process.communicate(timeout=240)
        finally:
            container.kill()
        return subprocess.CompletedProcess(argv, container.process.returncode, output, errors)

    @contextlib.contextmanager
    def serving(self) -> Iterator[Container]:
        """The image's start script and command, ready once its health check passes."""
        (last,) = (stage for stage in dockerfile.stages((ROOT / "Dockerfile").read_text()) if stage.name != "build")
        health = last.all_of("HEALTHCHECK")[0]
        command = [*json.loads(health[health.index("CMD ") + 4 :])]
        log = self.here / "serve.log"
        with log.open("ab") as output:
            argv = ["/srv/start", *json.loads(last.all_of("CMD")[0])]
            container = Container(self.conditions(*argv), stdout=output, stderr=output)
        try:
            until = time.monotonic() + 200
            while (checked := container.exec(*command)).returncode != 0:
                self.assertIsNone(container.process.poll(), log.read_text())
                self.assertLess(time.monotonic(), until, checked.stderr + log.read_text())
                time.sleep(0.2)
            yield container
        finally:
            container.kill()

    def test_the_conditions_are_those_of_docker(self) -> None:
        ran = self.ran("/usr/bin/env", "python3", "-c", TRIES)
        self.assertEqual(ran.stdout, f"[] {USER} 0 64\n", ran.stderr)

    def test_doctor_reports_the_level_and_what_would_raise_it(self) -> None:
        ran = self.ran("hone", "doctor", "--json")
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        found = {one["what"]: one for one in json.loads(ran.stdout)["findings"]}
        self.assertRegex(found["isolation"]["found"], "^filtered ")
        self.assertEqual(found["freezer"]["found"], "ptrace")
        self.assertEqual(found["jails"]["state"], "ok", found["jails"])
        self.assertIn("a container that allows mounts", found["private root"]["advice"])

    def test_processes_of_the_same_user_in_another_container_do_not_stop_a_build(self) -> None:
        """RLIMIT_NPROC counts them, and /proc does not show them: compilers could not fork."""
        other = Container(self.conditions("/usr/bin/python3", "-c", THREADS), stdout=subprocess.PIPE, text=True)
        try:
            assert other.process.stdout is not None
            self.assertEqual(other.process.stdout.readline(), "200 threads\n")
            wrong = "/srv/hone/share/tasks/add_relu/golden/demo_1_wrong.cpp"
            judged = self.ran("hone", "eval", "add_relu", wrong, "--json")
            self.assertIn('"outcome": "wrong"', judged.stdout, judged.stderr)
        finally:
            other.kill()
            assert other.process.stdout is not None
            other.process.stdout.close()

    def test_the_image_serves_judges_and_stops(self) -> None:
        with self.serving() as container:
            full = container.exec(
                "sh", "-c", "dd if=/dev/zero of=/dev/shm/full bs=1M 2> /dev/null; df --output=avail /dev/shm"
            )
            self.assertEqual(full.stdout.split()[-1], "0")
            judged = container.exec("hone", "eval", "add_relu", GOLDEN, "--json", *QUICK)
            self.assertEqual(judged.returncode, 0, judged.stdout + judged.stderr)
            self.assertIn('"correct"', judged.stdout)
            self.assertEqual(container.stop(), 0)
        log = (self.here / "serve.log").read_text()
        self.assertIn("stopped; all steps were answered", log)
        made = sorted(path.name for path in self.volume.iterdir())
        self.assertLessEqual({"keys", "monitor.key", "run.db"}, set(made))
        with self.serving() as container:  # the same volume again
            self.assertEqual(container.stop(), 0)


if __name__ == "__main__":
    unittest.main()
