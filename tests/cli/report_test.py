"""hone report on journals without episodes: what is refused, and what an error says."""

import json
import sqlite3
import tempfile
import unittest
from pathlib import Path

from cli_test import hone
from web_test import Server


class Report(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.here = Path(folder.name)
        self.journal = self.here / "run.db"
        server = Server(self.here, "--set", f"journal.path={self.journal}")
        server.stop()

    def refused(self, *arguments: object) -> str:
        ran = hone("report", *arguments, timeout=60)
        self.assertIn(ran.returncode, (2, 3), ran)
        self.assertEqual(ran.stdout, "")
        first, *rest = ran.stderr.splitlines()
        self.assertLessEqual(len(rest), 1, "one line, and perhaps one of advice")
        return first

    def test_a_journal_that_cannot_be_reported_is_named_with_the_reason(self) -> None:
        newer = self.here / "newer.db"
        newer.write_bytes(self.journal.read_bytes())
        with sqlite3.connect(newer) as database:
            database.execute("PRAGMA user_version = 99")
        database.close()
        damaged = self.here / "damaged.db"
        size = self.journal.stat().st_size
        damaged.write_bytes(self.journal.read_bytes()[:4096] + b"\xa5" * (size - 4096))
        text = self.here / "notes.txt"
        text.write_text("not a journal\n" * 1000)
        output = self.here / "report.html"
        for path, said in (
            (self.journal, f"hone: journal {self.journal}: it has no episode"),
            (newer, "found version 99 of the journal, this hone knows up to"),
            (damaged, "is damaged"),
            (text, "found a file of another kind"),
            (self.here / "missing.db", "no such file"),
            (self.here, "expected"),
        ):
            with self.subTest(path):
                advised = "to write a journal: hone serve" in hone("report", path).stderr
                self.assertEqual(advised, path.name == "missing.db")
                self.assertIn(said, self.refused(path, "-o", output))
                self.assertFalse(output.exists(), "no report of some of the journals")

    def test_arguments_that_do_not_fit_are_named(self) -> None:
        journal = self.journal
        before = journal.read_bytes()
        self.assertIn("no journal given; name its file (hone view FILE, hone report FILE, ", self.refused())
        self.assertIn(f"found the journal {journal} twice", self.refused(journal, journal))
        nine = [self.here / f"{number}.db" for number in range(9)]
        self.assertIn("found 9 journals, expected at most 8", self.refused(*nine))
        self.assertIn("it is one of the journals", self.refused(journal, "-o", journal))
        link = self.here / "link.html"
        link.symlink_to(journal)
        self.assertIn("it is one of the journals", self.refused(journal, "-o", link))
        self.assertIn("found a folder, expected a file", self.refused(journal, "-o", self.here))
        self.assertEqual(journal.read_bytes(), before)

    def test_the_configuration_may_name_the_journal(self) -> None:
        said = self.refused("--set", f"journal.path={self.journal}", "--json")
        self.assertIn("it has no episode", said)

    def test_filters_complete_and_help_names_them(self) -> None:
        shown = hone("report", "--help").stdout
        for option in ("--client", "--reward", "--task", "--state", "--group", "--json", "-o"):
            self.assertIn(option, shown)
        self.assertIn("report", hone("completion", "bash").stdout)
        self.assertEqual(json.loads(hone("config", "--json").stdout)["config"]["journal"]["path"], "")


if __name__ == "__main__":
    unittest.main()
