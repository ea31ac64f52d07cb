"""hone completion: the words that a shell offers."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from cli_test import BUILD, GOLDEN, hone


class Completion(unittest.TestCase):
    def test_completion(self) -> None:
        bash = hone("completion", "bash").stdout
        subprocess.run(["bash", "-n"], input=bash, text=True, check=True)

        def complete(*words: str) -> list[str]:
            script = (
                bash
                + f"""
COMP_WORDS=({" ".join(words[:-1])} "{words[-1]}"); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _hone
printf '%s\\n' "${{COMPREPLY[@]}}" """
            )
            environment = {**os.environ, "PATH": f"{BUILD}:{os.environ['PATH']}"}
            return subprocess.run(
                ["bash", "-c", script], capture_output=True, text=True, check=True, env=environment
            ).stdout.split()

        self.assertEqual(complete("hone", "dem"), ["demo"])
        self.assertEqual(complete("hone", "tasks", "soft"), ["softmax", "softmax_long"])
        self.assertIn("--endpoint", complete("hone", "serve", "--e"))
        self.assertEqual(complete("hone", "bench", "pro"), ["protocol"])
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "mine.yaml"
            file.write_text(f"datasets: [{{name: mine, config: {{path: {GOLDEN.parent.parent}}}}}]")
            for given in (["-c", str(file)], ["--config", "=", str(file)]):
                self.assertEqual(complete("hone", "eval", *given, "mine/softmax_"), ["mine/softmax_long"])
        self.assertEqual(complete("hone", "eval", "mine/"), [])
        self.assertEqual(complete("hone", "validate", "--ch"), [])  # hidden
        self.assertIn("#compdef hone", hone("completion", "zsh").stdout)
        self.assertIn("-l endpoint", hone("completion", "fish").stdout)


if __name__ == "__main__":
    unittest.main()
