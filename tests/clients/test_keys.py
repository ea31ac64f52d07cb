"""Clients with keys and a real server with keys: admission, names, and error messages."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hone
import hone.aio
import hone.gym
import hone.vector
import msgpack
import pytest
import zmq

from conftest import ROOT, RealServer

pytestmark = pytest.mark.real
TRIVIAL = "int x;"


class Guarded(RealServer):
    """A real server with a folder of keys, which tests may change."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "serve.log"
        self.keys("new", "trainer")
        self.keys("new", "grafana", "--role", "monitor")
        super().__init__(self.log, 0, "--keys", str(folder / "keys"))

    def keys(self, *arguments: str) -> str:
        binary = os.environ.get("HONE_BINARY")
        if not binary:
            pytest.skip("HONE_BINARY names no server")
        command = [binary, "keys", *arguments]
        return subprocess.run(command, cwd=self.folder, check=True, capture_output=True, text=True).stdout

    def key(self, name: str) -> Path:
        return self.folder / f"{name}.key"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    server = Guarded(tmp_path_factory.mktemp("guarded"))
    yield server
    server.stop()


def lines_of(path: Path) -> dict[str, str]:
    return dict(line.split(": ", 1) for line in path.read_text().splitlines() if not line.startswith("#"))


def test_key_alone_is_enough_to_connect(guarded: Guarded) -> None:
    with hone.connect(guarded.endpoint, key=guarded.key("trainer"), name="somebody-else") as client:
        assert client.server["client"] == "trainer"
        assert client.server["role"] == "trainer"
        episode = client.reset("add_relu", options={"max_turns": 1}).episode
        assert episode.step(TRIVIAL).ended
        assert "trainer" in client.metrics()["clients"]  # the control endpoint has the same keys
        assert "somebody-else" not in str(client.metrics())


def test_asyncio_vectors_and_gymnasium_take_keys(guarded: Guarded) -> None:
    async def main() -> str:
        async with hone.aio.connect(guarded.endpoint, key=str(guarded.key("trainer"))) as client:
            return str(client.server["client"])

    assert asyncio.run(main()) == "trainer"
    with hone.connect(guarded.endpoint, key=guarded.key("trainer")) as client:
        assert len(hone.vector.Episodes(client, 3).reset("add_relu")) == 3
    env = hone.gym.KernelRefineEnv(guarded.endpoint, "add_relu", key=guarded.key("trainer"))
    assert env.reset(seed=1)[1]["task"] == "tasks/add_relu"
    env.close()


def test_the_servers_key_may_be_a_file_or_text(guarded: Guarded, tmp_path: Path) -> None:
    both = lines_of(guarded.key("trainer"))
    bare = tmp_path / "bare.key"
    bare.touch(0o600)
    bare.write_text(f"public: {both['public']}\nsecret: {both['secret']}\n")
    with pytest.raises(hone.InvalidArgument, match="no line 'server: …', and no server_key was given"):
        hone.connect(guarded.endpoint, key=bare)
    for server_key in (guarded.folder / "keys/server.pub", both["server"], guarded.announced["server_key"]):
        with hone.connect(guarded.endpoint, key=bare, server_key=server_key) as client:
            assert client.ping()["incarnation"]


def test_missing_key_fails_at_once(guarded: Guarded) -> None:
    with pytest.raises(hone.FailedPrecondition, match="the server requires a key, but this client has none"):
        hone.connect(guarded.endpoint, connect_timeout=60)


class HangsUp:
    """Whoever begins as libzmq does, with ten bytes, is cut off at once; whoever waits for a greeting gets one."""

    def __init__(self, mechanism: bytes) -> None:
        self.greeting = b"\xff" + bytes(8) + b"\x7f\x03\x01" + mechanism.ljust(20, b"\0") + bytes(32)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.endpoint = f"tcp://127.0.0.1:{self.listener.getsockname()[1]}"
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                with connection, contextlib.suppress(OSError):
                    connection.settimeout(10)
                    if len(connection.recv(64)) == 12:
                        connection.sendall(self.greeting)
                        connection.recv(1)
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def stop(self) -> None:
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join()


@pytest.mark.parametrize(("mechanism", "with_key"), [(b"CURVE", False), (b"NULL", True)])
def test_client_asks_a_server_that_hangs_up_for_its_requirements(
    guarded: Guarded, mechanism: bytes, with_key: bool
) -> None:
    server = HangsUp(mechanism)
    try:
        with pytest.raises(
            hone.FailedPrecondition, match="the server runs without keys" if with_key else "requires a key"
        ):
            hone.connect(server.endpoint, key=guarded.key("trainer") if with_key else None, connect_timeout=60)
    finally:
        server.stop()


def test_a_server_that_hangs_up_and_wants_the_same_is_tried_again() -> None:
    server = HangsUp(b"NULL")
    try:
        with pytest.raises(hone.Unavailable, match=r"\d+ handshakes failed"):
            hone.connect(server.endpoint, connect_timeout=5)
    finally:
        server.stop()


def test_key_for_a_server_without_keys_is_an_error(guarded: Guarded, real: RealServer) -> None:
    with pytest.raises(hone.FailedPrecondition, match="the server runs without keys"):
        hone.connect(real.endpoint, key=guarded.key("trainer"), connect_timeout=60)


def test_the_wrong_server_key_is_guessed_at(guarded: Guarded) -> None:
    other = lines_of(guarded.key("grafana"))["public"]
    with pytest.raises(hone.Unavailable, match=r"\d+ handshakes failed; .* the server key of this client"):
        hone.connect(guarded.endpoint, key=guarded.key("trainer"), server_key=other, connect_timeout=5)


def test_an_unknown_key_is_refused(guarded: Guarded, tmp_path: Path) -> None:
    public, secret = (half.decode() for half in zmq.curve_keypair())
    stranger = tmp_path / "stranger.key"
    stranger.touch(0o600)
    stranger.write_text(f"public: {public}\nsecret: {secret}\n")
    with pytest.raises(hone.FailedPrecondition, match="the server refused this client's key"):
        hone.connect(guarded.endpoint, key=stranger, server_key=guarded.announced["server_key"], connect_timeout=60)
    log = guarded.log.read_text()
    assert f"its public key is not in the allow-list: {public}" in log
    assert secret not in log


def test_a_key_file_that_others_can_read_is_refused(guarded: Guarded, tmp_path: Path) -> None:
    shown = tmp_path / "shown.key"
    shutil.copy(guarded.key("trainer"), shown)
    shown.chmod(0o644)
    with pytest.raises(hone.FailedPrecondition, match=r"found mode 0644 of group [0-9]+, expected 0600"):
        hone.connect(guarded.endpoint, key=shown)
    with pytest.raises(hone.NotFound, match="no such file"):
        hone.connect(guarded.endpoint, key=tmp_path / "none.key")
    with pytest.raises(hone.InvalidArgument, match="found one, but no key of this client's"):
        hone.connect(guarded.endpoint, server_key=guarded.announced["server_key"])


def test_revoked_while_connected(guarded: Guarded) -> None:
    guarded.keys("new", "leaver")
    with hone.connect(guarded.endpoint, key=guarded.key("leaver")) as client:
        episode = client.reset("add_relu").episode
        guarded.keys("revoke", "leaver")
        with pytest.raises(hone.FailedPrecondition, match="the key of this client, 'leaver', was revoked"):
            episode.step(TRIVIAL)
    with pytest.raises(hone.FailedPrecondition, match="the server refused this client's key"):
        hone.connect(guarded.endpoint, key=guarded.key("leaver"), connect_timeout=60)


def test_tokens_of_other_roles_have_no_reward(guarded: Guarded) -> None:
    guarded.keys("new", "thief")
    with (
        hone.connect(guarded.endpoint, key=guarded.key("trainer")) as owner,
        hone.connect(guarded.endpoint, key=guarded.key("thief")) as thief,
    ):
        episode = owner.reset("add_relu").episode
        with pytest.raises(hone.NotFound, match="no such episode"):
            thief.resume(episode.id, episode.token)
        with pytest.raises(hone.NotFound, match="no such episode"):
            thief.call("cancel", {"episode": episode.id, "turn": 1})
        assert episode.step(TRIVIAL).turn == 1


def test_a_monitor_only_looks(guarded: Guarded) -> None:
    with hone.connect(guarded.endpoint, key=guarded.key("grafana")) as client:
        assert client.server["role"] == "monitor"
        assert client.tasks()
        assert client.metrics()["requests"]
        with pytest.raises(hone.FailedPrecondition, match="the role monitor, which may not reset"):
            client.reset("add_relu")


def test_entry_decides_held_out_tasks_and_quotas(tmp_path: Path) -> None:
    tasks = tmp_path / "tasks"
    shutil.copytree(ROOT / "envs/kernel_refine/tasks/add_relu", tasks / "exam")
    sheet = tasks / "exam/task.yaml"
    sheet.write_text(sheet.read_text() + "split: held_out\n")
    shutil.copytree(ROOT / "envs/kernel_refine/tasks/add_relu", tasks / "add_relu")
    (tmp_path / "hone.yaml").write_text(
        f"server: {{keys: keys, endpoint: 'tcp://127.0.0.1:0', control: ''}}\n"
        f"datasets: [{{name: mine, plugin: tasks, config: {{path: {tasks}}}}}]\n"
    )
    binary = os.environ.get("HONE_BINARY") or pytest.skip("HONE_BINARY names no server")

    def keys(*arguments: str) -> None:
        subprocess.run([binary, "keys", *arguments], cwd=tmp_path, check=True, capture_output=True)

    keys("new", "trainer", "--episodes", "1")
    keys("new", "examiner", "--held-out")
    log = tmp_path / "serve.log"
    with log.open("wb") as errors:
        process = subprocess.Popen(
            [binary, "serve", "hone.yaml", "--json"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=errors, text=True
        )
    try:
        assert process.stdout is not None
        announced = process.stdout.readline()
        assert announced, log.read_text()
        endpoint = announced.split('"endpoint":"')[1].split('"')[0]
        with (
            hone.connect(endpoint, key=tmp_path / "trainer.key", retry_busy=False) as trainer,
            hone.connect(endpoint, key=tmp_path / "examiner.key") as examiner,
        ):
            assert [task.id for task in trainer.tasks()] == ["mine/add_relu"]
            assert sorted(task.id for task in examiner.tasks()) == ["mine/add_relu", "mine/exam"]
            with pytest.raises(hone.NotFound, match="no task is called 'exam'"):
                trainer.reset("exam")
            assert examiner.reset("exam").info["task"] == "mine/exam"
            trainer.reset("add_relu")
            with pytest.raises(hone.Busy, match="client 'trainer' has 1 open episodes, at most 1 allowed"):
                trainer.reset("add_relu")
            examiner.reset("add_relu")
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)


def test_plain_pyzmq_with_curve(guarded: Guarded) -> None:
    page = (ROOT / "docs/protocol.md").read_text()
    found = re.search(r"^```python name=curve\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert found, "docs/protocol.md has no block that begins ```python name=curve"
    with zmq.Context() as context, context.socket(zmq.DEALER) as socket:
        socket.linger = 0
        socket.rcvtimeo = 30_000
        exec(found.group(1), {"socket": socket, "open": lambda _: guarded.key("trainer").open()})
        socket.connect(guarded.endpoint)
        body = msgpack.packb({"versions": ["hone/1"]})
        socket.send_multipart([b"hone/1", b"hello", msgpack.packb({"id": 1}), body])
        reply: dict[str, Any] = msgpack.unpackb(socket.recv_multipart()[3])
        assert reply["client"] == "trainer"


def test_no_secret_is_printed(guarded: Guarded) -> None:
    said = guarded.log.read_text() + guarded.keys("list") + guarded.keys("list", "--json") + str(guarded.announced)
    assert "client 'trainer' connected from 127.0.0.1" in said
    for file in (*guarded.folder.glob("*.key"), guarded.folder / "keys/server.key"):
        assert lines_of(file)["secret"] not in said
