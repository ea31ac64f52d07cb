"""hone serve, status and metrics: shutdown, status output, and limits of the machine."""

import fcntl
import json
import os
import pty
import resource
import signal
import subprocess
import tempfile
import termios
import unittest
from pathlib import Path

from cli_test import GOLDEN, HONE, QUICK, hone


class Serve(unittest.TestCase):
    def test_serve_stops_gracefully_when_its_terminal_is_gone(self) -> None:
        terminal, end = pty.openpty()
        server = subprocess.Popen(
            [HONE, "serve", "--json", "--endpoint", "tcp://127.0.0.1:0", "--control", ""],
            stdin=end,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        assert server.stdout is not None
        server.stdout.readline()
        os.close(end)
        os.close(terminal)  # the kernel sends SIGHUP
        _, log = server.communicate(timeout=60)
        self.assertEqual(server.returncode, 0, log)
        self.assertIn("stopping on SIGHUP (the terminal closed", log)
        self.assertIn("all steps were answered", log)

    def test_sighup_reloads_keys_and_log_level(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            config = folder / "hone.yaml"
            config.write_text("log: {level: info}\n")
            self.assertEqual(hone("keys", "new", "trainer", cwd=folder).returncode, 0)
            server = subprocess.Popen(
                [
                    *(HONE, "serve", "-c", str(config), "--json", "--endpoint", "tcp://127.0.0.1:0"),
                    *("--control", "", "--keys", str(folder / "keys")),
                ],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),  # as under nohup
            )
            assert server.stdout is not None
            assert server.stderr is not None
            server.stdout.readline()
            log = ""

            def reload(*until: str) -> None:
                nonlocal log
                server.send_signal(signal.SIGHUP)
                while any(text not in log for text in until):
                    line = server.stderr.readline()
                    self.assertTrue(line, log)
                    log += line

            reload("SIGHUP: log level info", "clients.yaml reloaded: 1 clients")
            config.write_text("log: {level: warnings}\n")
            reload("SIGHUP: the log level is unchanged: ")
            self.assertIn("hone.yaml:1: level: unknown value 'warnings'", log)
            config.write_text("log: {level: warning}\n")
            server.send_signal(signal.SIGHUP)
            server.send_signal(signal.SIGTERM)
            _, rest = server.communicate(timeout=60)
            self.assertEqual(server.returncode, 0, rest)

    def test_a_running_server_says_how_it_is(self) -> None:
        server = subprocess.Popen(
            [HONE, "serve", "--json", "--endpoint", "tcp://127.0.0.1:0", "--control", "tcp://127.0.0.1:0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        try:
            assert server.stdout is not None
            said = json.loads(server.stdout.readline())
            for place in (said["endpoint"], said["control"]):
                with self.subTest(place):
                    told = hone("status", place)
                    self.assertEqual(told.returncode, 0, told.stderr)
                    self.assertRegex(told.stdout, r"status +serving\n")
                    self.assertRegex(told.stdout, r"steps +0 under way, 0 done, 0 not scored\n")
                    self.assertRegex(told.stdout, r"connections +\d+ open\n")
            two = hone("status", said["endpoint"], "--endpoint", said["control"])
            self.assertEqual(two.returncode, 2)
            self.assertIn(f"found {said['control']} and ENDPOINT {said['endpoint']}, expected one of them", two.stderr)
            status = json.loads(hone("status", "--endpoint", said["control"], "--json").stdout)
            self.assertEqual((status["health"]["status"], status["health"]["problems"]), ("serving", []))
            counters = json.loads(hone("metrics", "--set", f"server.control={said['control']}").stdout)
            self.assertEqual(counters["service"]["episodes"]["open"], 0)
            text = hone("metrics", "--endpoint", said["endpoint"], "--prometheus").stdout
            self.assertRegex(text, r"(?m)^hone_uptime_s \d")
            self.assertTrue(text.endswith("\n") and not text.endswith("\n\n"))
        finally:
            server.terminate()
            server.communicate(timeout=60)
        gone = hone("status", "--endpoint", said["endpoint"])
        self.assertEqual(gone.returncode, 3)
        self.assertIn("no hone server answered within", gone.stderr)

    def test_too_few_open_files_are_named(self) -> None:
        def limited(*arguments: str) -> subprocess.CompletedProcess[str]:
            return subprocess.run(
                [HONE, *arguments],
                capture_output=True,
                text=True,
                timeout=120,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128)),
            )

        served = limited("serve", "--endpoint", "tcp://127.0.0.1:0", "--control", "")
        self.assertNotEqual(served.returncode, 0)
        self.assertIn("open-file limit: found 128, expected at least 256; raise it: ulimit -n", served.stderr)
        examined = json.loads(limited("doctor", "--json").stdout)
        (files,) = [one for one in examined["findings"] if one["what"] == "open files"]
        self.assertEqual((files["state"], files["found"]), ("missing", "128, expected at least 256"))
        self.assertNotIn("jails", [one["what"] for one in examined["findings"]])

    def test_a_low_soft_limit_of_open_files_is_raised(self) -> None:
        ran = subprocess.run(
            [HONE, "eval", "add_relu", str(GOLDEN / "demo_4_fused.cpp"), *QUICK],
            capture_output=True,
            text=True,
            timeout=120,
            preexec_fn=lambda: resource.setrlimit(
                resource.RLIMIT_NOFILE, (64, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
            ),
        )
        self.assertEqual(ran.returncode, 0, ran.stderr)


if __name__ == "__main__":
    unittest.main()
