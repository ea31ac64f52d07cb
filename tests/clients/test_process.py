"""Clients in processes that fork, exit while threads run, or get signals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable

import gymnasium
import hone
import hone.gym
import hone.vector
import pytest
from hone.pool import Pool

from scripted import ScriptedServer

FORK = """
import asyncio, gc, multiprocessing, os, sys, threading
import hone, hone.aio
from hone.adapters._play import Play, Settings

endpoint = sys.argv[1]
client = hone.connect(endpoint)

def use(other):
    assert other.reset("add_relu").info["task"] == "tasks/add_relu"

def status(child):
    pid = os.fork()
    if pid == 0:
        child()
        sys.exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

def run(target, *args):
    process = multiprocessing.get_context("fork").Process(target=target, args=args)
    process.start()
    process.join()
    return process.exitcode
"""

CHILDREN = {
    "connects anew in its place": """
def child():
    global client
    client = hone.connect(endpoint)
    use(client)
print(run(child), status(child))
""",
    "leaves it to the interpreter's end": """
def child():
    with hone.connect(endpoint) as mine:
        use(mine)
print(run(child), status(child))
""",
    "closes it": """
def child():
    client.close()
    client.close()
print(run(child), status(child))
""",
    "drops it with an episode that is open": """
start = client.reset("add_relu")
def child():
    global client, start
    del start, client
    gc.collect()
    use(hone.connect(endpoint))
print(run(child), status(child))
""",
    "forks again": """
def grandchild():
    global client
    client = hone.connect(endpoint)
    use(client)
def child():
    assert status(grandchild) == 0
    grandchild()
print(run(child), status(child))
""",
    "is a worker of a pool": """
def start():
    global client
    client = hone.connect(endpoint)
def work(_):
    use(client)
    return 0
with multiprocessing.get_context("fork").Pool(2, start) as pool:
    print(max(pool.map(work, range(8))), 0)
""",
    "forks while a step is under way": """
episode = client.reset("add_relu").episode
thread = threading.Thread(target=episode.step, args=("x",))
thread.start()
print("wait", flush=True)
input()
def child():
    global client
    client = hone.connect(endpoint)
    use(client)
print(run(child), status(child), flush=True)
input()
thread.join()
""",
    "uses asyncio": """
async def main():
    async with hone.aio.connect(endpoint) as client:
        assert (await client.reset("add_relu")).episode.turn == 0
def child():
    asyncio.run(main())
asyncio.run(main())
print(run(child), status(child))
""",
    "uses an adapter": """
play = Play(Settings(endpoint))
play.start("add_relu")
def child():
    global play
    play = Play(Settings(endpoint))
    assert play.start("add_relu")
    assert play.finish().fault is None
print(run(child), status(child))
""",
}


@pytest.mark.parametrize("child", CHILDREN.values(), ids=CHILDREN.keys())
def test_a_forked_child_ends_well_that(scripted: ScriptedServer, child: str) -> None:
    steps = scripted.seen["step"]
    holds = "input()" in child
    if holds:
        scripted.hold_steps.set()
    with start(FORK + child, scripted.endpoint) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        said = process.stdout.readline().strip()
        if holds:
            assert said == "wait"
            scripted.wait_for("step", steps + 1)
            process.stdin.write("\n")
            process.stdin.flush()
            said = process.stdout.readline().strip()
            scripted.hold_steps.clear()
        _, errors = process.communicate("\n", timeout=60)
        assert (said, process.returncode, errors) == ("0 0", 0, "")


def start(program: str, endpoint: str) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", program, endpoint]
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


EXIT = """
import asyncio, contextlib, sys, threading
import hone, hone.aio, hone.vector
from hone.pool import Pool

endpoint = sys.argv[1]
client = hone.connect(endpoint)

def in_thread(work):
    def run():
        with contextlib.suppress(hone.HoneError):
            work()
    threading.Thread(target=run, daemon=True).start()
"""

WAITS = {
    "in steps": """
def step():
    client.reset("add_relu").episode.step("x")
for _ in range(4):
    in_thread(step)
""",
    "with progress": """
def step():
    client.reset("add_relu").episode.step("x", on_progress=lambda body: None)
for _ in range(4):
    in_thread(step)
""",
    "in a batch": """
def step():
    episodes = hone.vector.Episodes(client, 4)
    episodes.reset("add_relu")
    episodes.step(["x"] * 4)
in_thread(step)
""",
    "in a pool": """
pool = Pool(client, 4, task="add_relu")
pool.reset()
pool.send(["x"] * 4, range(4))
in_thread(pool.recv)
""",
    "with clients of their own": """
def step():
    with hone.connect(endpoint) as mine:
        mine.reset("add_relu").episode.step("x")
for _ in range(4):
    in_thread(step)
""",
    "in event loops": """
async def main():
    async with hone.aio.connect(endpoint) as client:
        starts = [await client.reset("add_relu") for _ in range(2)]
        await asyncio.gather(*(start.episode.step("x") for start in starts))
for _ in range(2):
    in_thread(lambda: asyncio.run(main()))
""",
    "while others connect": """
def step():
    client.reset("add_relu").episode.step("x")
for _ in range(4):
    in_thread(step)
    in_thread(lambda: hone.connect("tcp://127.0.0.1:1", connect_timeout=60))
""",
}


@pytest.mark.parametrize("leave", ["", "sys.exit(0)", "client.close()"])
@pytest.mark.parametrize("waits", WAITS.values(), ids=WAITS.keys())
def test_a_process_ends_well_while_daemon_threads_wait(scripted: ScriptedServer, waits: str, leave: str) -> None:
    scripted.hold_steps.set()
    with start(EXIT + waits + "input()\n" + leave, scripted.endpoint) as process:
        scripted.wait_for("step", 4)
        _, errors = process.communicate("\n", timeout=60)
        assert (process.returncode, errors) == (0, "")


class Alarm(Exception):
    """What a handler raises."""


def raises(number: int, frame: object) -> None:
    raise Alarm


def sender_of(number: int, scripted: ScriptedServer, steps: int) -> threading.Thread:
    """A thread that sends this process a signal once the server has this number of steps."""

    def send() -> None:
        scripted.wait_for("step", steps)
        os.kill(os.getpid(), number)

    return threading.Thread(target=send)


@pytest.fixture(params=[signal.SIGALRM, signal.SIGUSR1, signal.SIGTERM])
def handled(request: pytest.FixtureRequest) -> object:
    number: int = request.param

    def handle(handler: Callable[[int, object], None]) -> int:
        signal.signal(number, handler)
        return number

    before = signal.getsignal(number)
    yield handle
    signal.signal(number, before)


Handled = Callable[[Callable[[int, object], None]], int]


def test_a_handler_that_raises_ends_the_step_and_the_client_goes_on(scripted: ScriptedServer, handled: Handled) -> None:
    number = handled(raises)
    with hone.connect(scripted.endpoint) as client:
        episode = client.reset("add_relu").episode
        scripted.hold_steps.set()
        sender = sender_of(number, scripted, 1)
        with pytest.raises(Alarm):
            sender.start()
            episode.step("x")
        sender.join()
        scripted.wait_for("cancel")
        scripted.hold_steps.clear()
        assert episode.step("y").turn == 1


def test_signal_handler_that_returns_does_not_end_the_step(scripted: ScriptedServer, handled: Handled) -> None:
    with hone.connect(scripted.endpoint) as client:
        said = []

        def look(number: int, frame: object) -> None:
            said.append(client.health()["status"])  # the client is not locked while it waits
            scripted.hold_steps.clear()

        number = handled(look)
        episode = client.reset("add_relu").episode
        scripted.hold_steps.set()
        sender = sender_of(number, scripted, 1)
        sender.start()
        assert episode.step("x").turn == 1
        sender.join()
        assert said == ["serving"]
        assert scripted.seen["cancel"] == 0


def test_a_batch_and_a_pool_go_on_after_a_signal(scripted: ScriptedServer, handled: Handled) -> None:
    number = handled(raises)
    with hone.connect(scripted.endpoint) as client:
        episodes = hone.vector.Episodes(client, 2)
        episodes.reset("add_relu")
        scripted.hold_steps.set()
        sender = sender_of(number, scripted, 2)
        with pytest.raises(Alarm):
            sender.start()
            episodes.step(["x", "x"])
        sender.join()
        scripted.wait_for("cancel", 2)
        scripted.hold_steps.clear()
        assert [result.turn for result in episodes.step(["y", "y"]) if result] == [1, 1]

        pool = Pool(client, 2, task="add_relu")
        pool.reset()
        scripted.hold_steps.set()
        pool.send(["x", "x"])
        sender = sender_of(number, scripted, 6)
        with pytest.raises(Alarm):
            sender.start()
            pool.recv()
        sender.join()
        scripted.hold_steps.clear()
        assert pool.recv().info["elapsed_step"] == [1, 1]  # nothing of what was sent is lost
        pool.close()


def test_a_vector_environment_goes_on_after_a_signal(scripted: ScriptedServer, handled: Handled) -> None:
    number = handled(raises)
    envs = gymnasium.make_vec(hone.gym.ENV_ID, 2, endpoint=scripted.endpoint, task="add_relu")
    envs.reset(seed=1)
    scripted.hold_steps.set()
    sender = sender_of(number, scripted, 2)
    with pytest.raises(Alarm):
        sender.start()
        envs.step(("wrong", "wrong"))
    sender.join()
    scripted.wait_for("cancel", 2)
    scripted.hold_steps.clear()
    observations, rewards, _, _, _ = envs.step(("slow", "slow"))
    assert list(rewards) == [0.4, 0.4]
    assert list(observations["turn"][:, 0]) == [1, 1]
    scripted.holding.add("reset")
    before = scripted.seen["reset"]
    sender = threading.Thread(target=lambda: (scripted.wait_for("reset", before + 2), os.kill(os.getpid(), number)))
    with pytest.raises(Alarm):
        sender.start()
        envs.reset(seed=2)
    sender.join()
    scripted.holding.clear()
    observations, _ = envs.reset(seed=3)
    assert list(observations["turn"][:, 0]) == [0, 0]
    envs.close()
    assert scripted.open() == []


def test_step_with_a_dropped_ticket_is_cancelled(scripted: ScriptedServer) -> None:
    """A handler may raise between the request and the name that its ticket is given."""
    with hone.connect(scripted.endpoint) as client:
        episode = client.reset("add_relu").episode
        scripted.hold_steps.set()
        body = {"episode": episode.id, "turn": 1, "action": {"code": "x"}}
        ticket = client.submit("step", body)
        scripted.wait_for("step")
        del ticket
        scripted.wait_for("cancel")
        scripted.hold_steps.clear()
        assert episode.step("y").turn == 1
        client.submit("close", {"episode": episode.id})  # what is no step is not
        client.ping()
        assert scripted.episodes == {}
