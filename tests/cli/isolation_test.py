"""hone doctor and hone serve report the same isolation level and freezer, with any set of capabilities."""

import json
import os
import shutil
import signal
import subprocess
import unittest

from cli_test import BUILD

HONE = str(BUILD / "hone")
DOCKER = (
    "chown dac_override fsetid fowner mknod net_raw setgid setuid setfcap setpcap net_bind_service sys_chroot kill"
    " audit_write"
)
SETS = {
    "docker": DOCKER,
    "docker and sys_ptrace": f"{DOCKER} sys_ptrace",
    "no kill": f"{DOCKER} sys_ptrace".replace(" kill ", " "),
    "no setuid": DOCKER.replace(" setuid", ""),
    "none": "",
}


def with_rights(rights: str, *command: str) -> list[str]:
    held = ",".join(["-all", *(f"+{right}" for right in rights.split())])
    return [
        "setpriv",
        "--bounding-set",
        held,
        "--inh-caps",
        "-all",
        HONE,
        *command,
        "--set",
        "isolation.freezer=ptrace",
    ]


@unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "needs root and setpriv")
class Isolation(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        """Not where these rights are not ours to give, or nothing but a private root keeps files away."""
        given = with_rights(f"{DOCKER} sys_ptrace", "doctor", "--json")
        ran = subprocess.run(given, capture_output=True, text=True, timeout=120, check=False)
        if not ran.stdout or json.loads(ran.stdout)["isolation"] != "separated":
            raise unittest.SkipTest(f"needs Landlock, ptrace and {DOCKER} sys_ptrace: {ran.stderr[:200]}")

    def examine(self, rights: str, *options: str) -> dict:
        ran = subprocess.run(
            with_rights(rights, "doctor", "--json", *options), capture_output=True, text=True, timeout=120
        )
        self.assertIn(ran.returncode, (0, 1), ran.stderr)
        return json.loads(ran.stdout)

    def serve(self, rights: str) -> str:
        """What a server says of itself; it is ended."""
        free = ("--endpoint", "tcp://127.0.0.1:0", "--control", "tcp://127.0.0.1:0")
        command = with_rights(rights, "serve", "--json", *free)
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
            line = server.stdout.readline()
            server.send_signal(signal.SIGTERM)
            self.assertEqual(server.wait(60), 0)
        return json.loads(line)["description"]

    def test_doctor_and_serve_agree(self) -> None:
        for name, rights in SETS.items():
            with self.subTest(name):
                found = self.examine(rights)
                wanted = f"isolation {found['isolation']} (freezer {found['freezer']})"
                self.assertTrue(self.serve(rights).startswith(wanted), wanted)

    def test_doctor_names_the_missing_capability(self) -> None:
        for rights, capability in (
            (SETS["docker"], "CAP_SYS_PTRACE"),
            (SETS["no kill"], "CAP_KILL"),
            (SETS["no setuid"], "CAP_SETUID"),
        ):
            with self.subTest(capability):
                found = self.examine(rights)
                self.assertEqual(found["isolation"], "filtered")
                self.assertIn(f"{capability} is missing", "\n".join(found["notes"]))

    def test_a_minimum_that_is_not_met_is_missing_and_named(self) -> None:
        asked = "isolation.minimum=separated"
        found = self.examine(SETS["docker"], "--set", asked)
        finding = next(one for one in found["findings"] if one["what"] == "isolation")
        self.assertEqual(finding["state"], "missing")
        self.assertIn("expected at least separated (isolation.minimum)", finding["found"])
        self.assertIn("--cap-add SYS_PTRACE", finding["advice"])
        served = subprocess.run(
            with_rights(SETS["docker"], "serve", "--set", asked), capture_output=True, text=True, timeout=60
        )
        self.assertEqual(served.returncode, 3)
        self.assertIn("CAP_SYS_PTRACE", served.stderr)


if __name__ == "__main__":
    unittest.main()
