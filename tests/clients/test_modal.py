"""Scripts written for Modal run unchanged: `python -m hone.kernelbench_triton.modal SCRIPT`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

SCRIPT = """
import json, sys
import modal
from helper import KERNEL
from modal_app import app, benchmark_kernelbench

found = modal.Function.from_name("kernelbench-triton", "benchmark_kernelbench")
older = modal.Function.lookup("kernelbench-triton", "benchmark_kernelbench")
assert found is older is benchmark_kernelbench
with modal.enable_output(), app.run():
    result = found.remote(triton_code=KERNEL, pytorch_code="def get_inputs(): return []")
print(json.dumps([__name__, sys.argv[1:], result["correctness"], result["error"]]))
"""


class Handler(BaseHTTPRequestHandler):
    """A gateway that finds every kernel wrong."""

    def do_POST(self) -> None:
        asked: dict[str, Any] = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        metadata = {"outcome": "wrong", "correctness_issue": f"output {asked['custom_model_src']} is wrong"}
        body = json.dumps({"correctness": False, "metadata": metadata, "runtime_stats": {}}).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@pytest.fixture
def gateway() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


def run(script: Path, gateway: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hone.kernelbench_triton.modal", str(script), *arguments]
    environment = {**os.environ, "HONE_GATEWAY": gateway}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)


def test_a_script_runs_unchanged(tmp_path: Path, gateway: str) -> None:
    (tmp_path / "helper.py").write_text('KERNEL = "\\ud83d"\n')
    (tmp_path / "modal_app.py").write_text("raise SystemExit('this one needs Modal')\n")
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = run(script, gateway, "--turns", "4")
    assert done.returncode == 0, done.stderr
    error = "AssertionError: output \ufffd is wrong"
    assert json.loads(done.stdout) == ["__main__", ["--turns", "4"], False, error]


def test_missing_thing_is_named(tmp_path: Path, gateway: str) -> None:
    script = tmp_path / "script.py"
    for source, said in (
        ("import modal; modal.Image", "found modal.Image, expected modal.Function.from_name"),
        ("import modal; modal.Function.from_name('a', 'b')", "found 'b', expected one of benchmark_batch"),
    ):
        script.write_text(source)
        done = run(script, gateway)
        assert done.returncode == 1
        assert said in done.stderr
    assert "python -m hone.kernelbench_triton.modal SCRIPT" in run(Path("--help"), gateway).stderr
