"""A gateway process for tests, and the text around a submission."""

import http.client
import json
import signal
import subprocess
from contextlib import contextmanager

from conftest import BUILD, SECONDS_MAX

RELU = "import torch\n\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return {}\n"


class Gateway:
    """The process, ready once made."""

    def __init__(self, log, python, *options):
        self.log = log
        command = [BUILD / "hone", "gateway", "tritonforge", "--json", "--listen", "127.0.0.1:0"]
        with log.open("ab") as errors:
            self.process = subprocess.Popen(
                [*command, *(("--python", python) if python else ()), *options], stdout=subprocess.PIPE, stderr=errors
            )
        announced = self.process.stdout.readline()
        assert announced, log.read_text()
        self.url = json.loads(announced)["url"]
        self.port = int(self.url.rpartition(":")[2])

    def ask(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS_MAX)
        text = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        connection.request(method, path, text, {"Content-Type": "application/json", **(headers or {})})
        reply = connection.getresponse()
        return reply.status, json.loads(reply.read())

    def judge(self, reference, submission, **more):
        return self.ask("POST", "/eval", {"original_model_src": reference, "custom_model_src": submission, **more})

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=60)


@contextmanager
def serving(python, datasets, log):
    """A server with this setting of `datasets`: its endpoint and its process."""
    command = [BUILD / "hone", "serve", "--json", "--endpoint", "tcp://127.0.0.1:0", "--control", "tcp://127.0.0.1:0"]
    sets = ["--set", datasets, "--set", f"plugins.python={python}", "--set", f"cpu.python={python}"]
    with log.open("wb") as errors:
        server = subprocess.Popen([*command, *sets], stdout=subprocess.PIPE, stderr=errors)
    try:
        yield json.loads(server.stdout.readline())["endpoint"], server
    finally:
        server.kill()
        server.wait()
