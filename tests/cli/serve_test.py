"""hone serve, status and metrics: shutdown, status output, and limits of the machine."""

import json
import resource
import signal
import subprocess
import unittest

from cli_test import GOLDEN, HONE, QUICK, hone


class Serve(unittest.TestCase):
    def test_serve_stops_gracefully_when_its_terminal_is_gone(self) -> None:
        for ignored in (False, True):
            server = subprocess.Popen(
                [HONE, "serve", "--json", "--endpoint", "tcp://127.0.0.1:0", "--control", ""],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                preexec_fn=lambda ignored=ignored: signal.signal(
                    signal.SIGHUP, signal.SIG_IGN if ignored else signal.SIG_DFL
                ),
            )
            assert server.stdout is not None
            server.stdout.readline()
            server.send_signal(signal.SIGHUP)
            if ignored:
                server.send_signal(signal.SIGTERM)  # as under nohup: this one stops it
            _, log = server.communicate(timeout=60)
            self.assertEqual(server.returncode, 0, log)
            self.assertIn(f"stopping on {'SIGTERM' if ignored else 'SIGHUP (the terminal closed'}", log)
            self.assertIn("all steps were answered", log)

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
                    told = hone("status", "--endpoint", place)
                    self.assertEqual(told.returncode, 0, told.stderr)
                    self.assertRegex(told.stdout, r"status +serving\n")
                    self.assertRegex(told.stdout, r"steps +0 under way, 0 done, 0 not scored\n")
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
