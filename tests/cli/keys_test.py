"""hone keys, and a server with keys: output, file modes, refusals."""

import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("HONE_BUILD_DIR", ROOT / "build/dev")).resolve()
HONE = str(BUILD / "hone")


class Keys(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.here = Path(folder.name)

    def hone(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [HONE, *arguments],
            capture_output=True,
            text=True,
            timeout=60,
            cwd=self.here,
            env={**os.environ, "NO_COLOR": "1"},
        )

    def fine(self, *arguments: str) -> str:
        ran = self.hone(*arguments)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return ran.stdout

    def mode(self, name: str) -> int:
        return stat.S_IMODE((self.here / name).stat().st_mode)

    def test_new_makes_all_there_has_to_be(self) -> None:
        said = self.fine("keys", "new", "trainer")
        self.assertIn("trainer.key: the key of client 'trainer', role trainer;", said)
        self.assertIn('hone.connect("tcp://HOST:5917", key="trainer.key")', said)
        self.assertEqual(self.mode("trainer.key"), 0o600)
        self.assertEqual(self.mode("keys"), 0o700)
        self.assertEqual(self.mode("keys/server.key"), 0o600)
        self.assertIn("name", (self.here / "keys/clients.yaml").read_text())
        second = json.loads(
            self.fine("keys", "new", "exam", "--held-out", "--episodes", "64", "--evaluations", "8", "--json")
        )
        self.assertEqual(
            {key: second[key] for key in ("name", "role", "held_out", "episodes", "evaluations", "bytes", "key_file")},
            {
                "name": "exam",
                "role": "trainer",
                "held_out": True,
                "episodes": 64,
                "evaluations": 8,
                "bytes": None,
                "key_file": "exam.key",
            },
        )
        self.assertRegex(self.fine("keys", "list"), r"exam +trainer +yes +64 +8 +default ")

    def test_revoke_and_new_again(self) -> None:
        self.fine("keys", "new", "a")
        self.fine("keys", "new", "b", "--role", "monitor", "--out", "elsewhere.key")
        self.fine("keys", "revoke", "a")
        self.assertEqual([client["name"] for client in json.loads(self.fine("keys", "list", "--json"))], ["b"])
        self.assertIn("a.key exists; remove it first, or choose another file", self.hone("keys", "new", "a").stderr)
        (self.here / "a.key").unlink()
        self.fine("keys", "new", "a")

    def test_errors_name_the_remedy(self) -> None:
        self.fine("keys", "new", "trainer")
        for arguments, message in (
            (["keys", "new"], "the client's name is missing"),
            (["keys", "new", "trainer"], "client 'trainer' has a key; revoke it first: hone keys revoke trainer"),
            (["keys", "new", "../up"], "a client's name: expected 1 to 64 letters"),
            (["keys", "new", "x", "--role", "admin"], "unknown value 'admin'"),
            (["keys", "new", "x", "--episodes", "0"], "--episodes"),
            (["keys", "new", "--server"], "keys/server.key exists; remove it first, or choose another file"),
            (["keys", "revoke", "trainor"], "unknown client 'trainor'; did you mean 'trainer'?"),
            (["keys", "list", "--keys", "none"], "none/clients.yaml: no such file or directory"),
            (["keys", "lst"], "unknown value 'lst'; did you mean 'list'?"),
        ):
            with self.subTest(arguments):
                ran = self.hone(*arguments)
                self.assertEqual(ran.returncode, 2, ran.stderr)
                self.assertIn(message, ran.stderr)
        self.assertFalse((self.here / "x.key").exists())
        self.assertFalse((self.here.parent / "up.key").exists())

    def test_beyond_loopback_only_with_keys(self) -> None:
        for option in ("--endpoint", "--control"):
            ran = self.hone("serve", "--set", "isolation.minimum=none", option, "tcp://0.0.0.0:0")
            self.assertNotEqual(ran.returncode, 0)
            self.assertIn("make a client's key with `hone keys new NAME`, then serve with --keys keys", ran.stderr)
        ran = self.hone("serve", "--endpoint", "tcp://0.0.0.0:0", "--keys", "keys")
        self.assertNotEqual(ran.returncode, 0)
        self.assertIn("create one with: hone keys new NAME --keys", ran.stderr)

    def test_serves_with_keys_and_says_no_secret(self) -> None:
        said = self.fine("keys", "new", "trainer")
        (self.here / "hone.yaml").write_text(
            "server: {endpoint: 'tcp://127.0.0.1:0', control: 'tcp://127.0.0.1:0', keys: keys}\n"
        )
        server = subprocess.Popen(
            [HONE, "serve", "hone.yaml", "--json", "--set", "log.level=debug"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.here,
        )
        assert server.stdout is not None
        announced = server.stdout.readline()
        public = (self.here / "keys/server.pub").read_text().split("public: ")[1].strip()
        self.assertEqual(json.loads(announced)["server_key"], public)
        server.send_signal(signal.SIGTERM)
        _, log = server.communicate(timeout=60)
        self.assertEqual(server.returncode, 0, log)
        said += announced + log + self.fine("config", "hone.yaml") + self.fine("config", "hone.yaml", "--json")
        said += self.fine("keys", "list") + self.fine("keys", "list", "--json")
        self.assertIn(f"keys: {self.here / 'keys'}", said)
        for file in ("trainer.key", "keys/server.key"):
            secret = (self.here / file).read_text().split("secret: ")[1].split("\n")[0]
            self.assertNotIn(secret, said)

    def test_doctor_knows_curve(self) -> None:
        findings = {
            finding["what"]: finding for finding in json.loads(self.hone("doctor", "--json").stdout)["findings"]
        }
        self.assertIn(findings["curve"]["state"], ("ok", "note"))


if __name__ == "__main__":
    if not Path(HONE).exists():
        sys.exit(f"no hone in {BUILD}: build the preset dev, or set HONE_BUILD_DIR")
    unittest.main()
