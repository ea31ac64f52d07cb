"""The blocking client: verbs, errors, timeouts, threads, Ctrl-C, fork."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import hone
import hone.vector
import pytest

from conftest import free_port
from scripted import ScriptedServer
from servers import RealServer


def test_whole_episode(endpoint: str) -> None:
    with hone.connect(endpoint) as client:
        assert client.server["version"] == "hone/1"
        assert any(task.id == "tasks/add_relu" for task in client.tasks())
        start = client.reset("tasks/add_relu", seed=3, options={"max_turns": 2})
        assert start.info["task"] == "tasks/add_relu"
        assert start.info["seed"] == 3
        assert start.observation["messages"][-1]["role"] == "user"
        first = client.step(start.episode, response="no code here, it is wrong")
        assert (first.turn, first.ended, first.returns) == (1, False, None)
        assert first.reward_valid
        last = start.episode.step(response="still no code, wrong")
        assert last.truncated
        assert start.episode.ended
        assert last.returns is not None
        assert len(last.returns) == 2
        with pytest.raises(hone.FailedPrecondition, match="the episode ended after turn 2"):
            start.episode.step(response="once more")


def test_prompt_has_the_messages_of_a_reset(endpoint: str) -> None:
    options = {"max_turns": 2, "prompt": "few_shot"}
    with hone.connect(endpoint) as client:
        messages = client.prompt("add_relu", options=options)
        assert messages == client.reset("add_relu", options=options).observation["messages"]
        with pytest.raises(hone.NotFound, match="ad_relu"):
            client.prompt("ad_relu")


def test_a_client_with_nothing_to_do_sleeps(scripted: ScriptedServer) -> None:
    with hone.connect(scripted.endpoint):
        # By the server's own account, so that the processor time is that of several heartbeats.
        scripted.wait_for("ping")
        processor, clock, pings = time.process_time(), time.monotonic(), scripted.seen["ping"]
        scripted.wait_for("ping", pings + 4)
        assert time.process_time() - processor < (time.monotonic() - clock) / 2


def test_unknown_task(endpoint: str) -> None:
    with hone.connect(endpoint) as client:
        with pytest.raises(hone.NotFound, match="ad_relu") as caught:
            client.reset("ad_relu")
        assert caught.value.code == "not_found"
        assert not caught.value.retryable


def test_health_and_metrics_come_from_the_control_endpoint(endpoint: str) -> None:
    with hone.connect(endpoint) as client:
        assert client.health()["status"] == "serving"
        assert client.metrics()
        text = client.metrics(format="prometheus")
        assert all(line.startswith(("#", "hone_")) for line in text.splitlines())
        assert text
        assert client.ping()["incarnation"] == client.server["incarnation"]


def test_close_episode(endpoint: str) -> None:
    with hone.connect(endpoint) as client:
        episode = client.reset("add_relu").episode
        closed = episode.close()
        assert closed.turns == 0
        assert closed.returns == []
        assert episode.ended


def test_resume_from_another_client(endpoint: str) -> None:
    with hone.connect(endpoint) as first, hone.connect(endpoint) as second:
        start = first.reset("add_relu", options={"max_turns": 3})
        start.episode.step(response="no code, wrong")
        with pytest.raises(hone.NotFound, match="episode"):
            second.resume(start.episode.id, "0" * 16)
        taken = second.resume(start.episode.id, start.episode.token)
        assert taken.episode.turn == 1
        assert taken.episode.step(response="no code, wrong again").turn == 2
        with pytest.raises(hone.FailedPrecondition, match="belongs to another connection"):
            start.episode.step(response="mine?")


def test_unscored_step(scripted: ScriptedServer) -> None:
    with hone.connect(scripted.endpoint) as client:
        result = client.reset().episode.step("fault")
        assert result.reward is None
        assert not result.reward_valid
        assert result.info["fault"] == "the judge's process died"


def test_no_server() -> None:
    with pytest.raises(hone.Unavailable, match="no hone server answered within 200 ms") as caught:
        hone.connect(f"tcp://127.0.0.1:{free_port()}", connect_timeout=0.2)
    assert isinstance(caught.value, ConnectionError)


# No name server is asked for these: a label has at most 63 characters, and at least one.
@pytest.mark.parametrize("host", ["h" * 64, "trainer..example"])
def test_a_host_name_that_does_not_resolve_is_named(host: str) -> None:
    with pytest.raises(hone.Unavailable, match=f"the host name '{host}' does not resolve"):
        hone.connect(f"tcp://{host}:5917", connect_timeout=5)


def test_bad_endpoint() -> None:
    with pytest.raises(hone.InvalidArgument, match="endpoint 'http://x'"):
        hone.connect("http://x")


def test_no_version_in_common(scripted: ScriptedServer) -> None:
    scripted.versions = ["hone/2"]
    with pytest.raises(hone.InvalidArgument, match=r"found \[hone/1\], this server speaks \[hone/2\]"):
        hone.connect(scripted.endpoint)


def test_errors_name_their_cause(scripted: ScriptedServer) -> None:
    with hone.connect(scripted.endpoint) as client:
        with pytest.raises(hone.InvalidArgument, match="no module") as caught:
            client.reset("unfit")
        assert caught.value.cause == "unfit_task"
        with pytest.raises(hone.NotFound) as caught_none:
            client.reset("ad_relu")
        assert caught_none.value.cause is None


def test_busy_is_asked_again(scripted: ScriptedServer) -> None:
    scripted.busy_replies = 3
    with hone.connect(scripted.endpoint) as client:
        client.reset("add_relu")
    assert scripted.seen["reset"] == 4


def test_busy_is_raised_where_wanted(scripted: ScriptedServer) -> None:
    scripted.busy_replies = 1
    scripted.retry_after_ms = 1500
    with hone.connect(scripted.endpoint, retry_busy=False) as client:
        with pytest.raises(hone.Busy, match="the queue is full") as caught:
            client.reset("add_relu")
        assert caught.value.retryable
        assert caught.value.retry_after == 1.5


def test_busy_until_the_timeout(scripted: ScriptedServer) -> None:
    scripted.busy_replies = 10**6
    scripted.retry_after_ms = 60_000
    with hone.connect(scripted.endpoint) as client, pytest.raises(hone.Busy):
        client.reset("add_relu", timeout=30)


def test_slow_server_meets_the_timeout_and_the_step_may_be_sent_again(scripted: ScriptedServer) -> None:
    with hone.connect(scripted.endpoint) as client:
        episode = client.reset("add_relu").episode
        scripted.hold_steps.set()
        with pytest.raises(hone.DeadlineExceeded, match="turn 1: no answer within 200 ms"):
            episode.step("x", timeout=0.2)
        scripted.hold_steps.clear()
        assert episode.step("x").turn == 1
        assert scripted.evaluations == 1


def test_progress(scripted: ScriptedServer) -> None:
    with hone.connect(scripted.endpoint) as client:
        episode = client.reset("add_relu").episode
        scripted.hold_steps.set()
        stages: list[str] = []

        def on_progress(body: dict[str, str]) -> None:
            stages.append(body["stage"])
            scripted.hold_steps.clear()

        assert episode.step("x", on_progress=on_progress).turn == 1
        assert stages == ["building"]


def test_cancel_from_another_thread(scripted: ScriptedServer) -> None:
    with hone.connect(scripted.endpoint) as client, ThreadPoolExecutor() as pool:
        episode = client.reset("add_relu").episode
        assert not client.cancel(episode)
        scripted.hold_steps.set()
        step = pool.submit(episode.step, "x")
        scripted.wait_for("step")
        assert client.cancel(episode)
        with pytest.raises(hone.Cancelled, match="turn 1 was cancelled"):
            step.result()
        scripted.hold_steps.clear()
        assert episode.step("y").turn == 1


def test_one_connection_serves_many_threads(scripted: ScriptedServer) -> None:
    def play(seed: int) -> list[float | None] | None:
        episode = client.reset("add_relu", seed=seed, options={"max_turns": 3}).episode
        return [episode.step(f"slow {turn}") for turn in range(3)][-1].returns

    with hone.connect(scripted.endpoint) as client, ThreadPoolExecutor(16) as pool:
        assert list(pool.map(play, range(64))) == [[0.4, 0.4, 0.4]] * 64


def test_more_requests_than_the_server_takes_at_once_wait_here(scripted: ScriptedServer) -> None:
    scripted.limits = {"frame_bytes": 1 << 20, "in_flight": 3}
    scripted.hold_steps.set()
    with hone.connect(scripted.endpoint) as client, ThreadPoolExecutor(8) as pool:
        episodes = [client.reset("add_relu").episode for _ in range(8)]
        steps = [pool.submit(episode.step, "x") for episode in episodes]
        scripted.wait_for("step", 2)
        scripted.wait_for("ping", scripted.seen["ping"] + 2)
        assert scripted.seen["step"] == 2
        assert scripted.refused == 0
        scripted.hold_steps.clear()
        assert [step.result().turn for step in steps] == [1] * 8


def test_oversize_source_is_refused_here(scripted: ScriptedServer) -> None:
    scripted.limits = {"frame_bytes": 1000}
    with hone.connect(scripted.endpoint) as client:
        episode = client.reset("add_relu").episode
        with pytest.raises(hone.InvalidArgument, match="bytes, at most 1000 allowed"):
            episode.step("x" * 1001)
        assert episode.step("x" * 100).turn == 1


def test_a_lease_shorter_than_the_heartbeat_is_renewed() -> None:
    server = ScriptedServer(heartbeat_s=3600, lease_s=1.5)
    try:
        with hone.connect(server.endpoint) as client:
            episode = client.reset("add_relu").episode
            server.wait_for("ping", 3)  # the first comes long before the heartbeat is due
            assert server.renewed[episode.id] >= 1
    finally:
        server.stop()


def test_leases_are_renewed(scripted: ScriptedServer) -> None:
    scripted._welcome["lease_s"] = 0.6
    with hone.connect(scripted.endpoint) as client:
        start = client.reset("add_relu")
        closed = client.reset("add_relu")
        closed.episode.close()
        scripted.wait_for("ping", scripted.seen["ping"] + 4)
        assert scripted.renewed[start.episode.id] >= 2
        assert scripted.renewed[closed.episode.id] == 0


def test_closing_the_client_ends_pending_requests(scripted: ScriptedServer) -> None:
    client = hone.connect(scripted.endpoint)
    episode = client.reset("add_relu").episode
    scripted.hold_steps.set()
    with ThreadPoolExecutor() as pool:
        step = pool.submit(episode.step, "x")
        scripted.wait_for("step")
        client.close()
        with pytest.raises(hone.Cancelled, match="the client was closed"):
            step.result()
    client.close()
    with pytest.raises(hone.FailedPrecondition, match="the client is closed"):
        client.reset("add_relu")


def test_keyboard_interrupt_ends_the_step_and_the_client_goes_on(scripted: ScriptedServer) -> None:
    with hone.connect(scripted.endpoint) as client:
        episode = client.reset("add_relu").episode
        scripted.hold_steps.set()

        def interrupt() -> None:
            scripted.wait_for("step")
            os.kill(os.getpid(), signal.SIGINT)

        thread = threading.Thread(target=interrupt)
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            episode.step("x")
        thread.join()
        scripted.wait_for("cancel")
        scripted.hold_steps.clear()
        assert episode.step("y").turn == 1


def test_keyboard_interrupt_while_connecting() -> None:
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        hone.connect(f"tcp://127.0.0.1:{free_port()}", connect_timeout=60)
    assert time.monotonic() - began < 30


def test_a_client_does_not_cross_fork(scripted: ScriptedServer) -> None:
    program = f"""
import os, hone
client = hone.connect({scripted.endpoint!r})
pid = os.fork()
if pid == 0:
    try:
        client.ping()
    except hone.FailedPrecondition as error:
        print(error, flush=True)
    client.close()
    os._exit(0)
os.waitpid(pid, 0)
print(client.ping()["time"])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines() == [
        "this client was made before fork(); connect again in the child",
        "2026-11-21T00:00:00Z",
    ], done.stderr


def test_action_that_is_not_text_is_refused() -> None:
    server = ScriptedServer()
    try:
        with hone.connect(server.endpoint) as client:
            episode = client.reset("add_relu").episode
            with pytest.raises(TypeError, match="cannot send a set"):
                client.reset("add_relu", options={"x": {1}})
            with pytest.raises(TypeError, match="expected one of code, response= and action="):
                episode.step()
            with pytest.raises(TypeError, match=r"language= goes with code"):
                episode.step(action={"code": "x"}, language="c++")
            assert episode.step("π ≈ 3").turn == 1
    finally:
        server.stop()


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("request_of", "said"),
    [
        (lambda c: c.reset("add_relu", seed=2**63), "reset: seed: found an integer above the range of int64"),
        (lambda c: c.reset("add_relu", seed=-(2**63) - 1), "reset: seed: found an integer below the range of int64"),
        (
            lambda c: c.reset("add_relu", options={"max_turns": 10**40}),
            "reset: options/max_turns: found an integer above",
        ),
        (lambda c: c.reset("add_relu", timeout=NAN), "timeout: found nan, expected seconds"),
        (lambda c: c.reset("add_relu").episode.step("x", timeout=NAN), "timeout: found nan, expected seconds"),
        (lambda c: c.call("ping", {"episodes": [1, [2**64]]}), "ping: episodes/1/0: found an integer above"),
        (lambda c: hone.connect("tcp://127.0.0.1:1", timeout=NAN), "^timeout: found nan, expected seconds"),
        (lambda c: hone.connect("tcp://127.0.0.1:1", connect_timeout=NAN), "connect_timeout: found nan"),
        (lambda c: hone.connect("tcp://127.0.0.1:1", reconnect_timeout=NAN), "reconnect_timeout: found nan"),
        (
            lambda c: hone.vector.Episodes(c, 2).reset("add_relu", seed=[1, 2**63]),
            "reset: seed: found an integer above",
        ),
    ],
)
def test_a_number_that_cannot_be_sent_is_named(
    scripted: ScriptedServer, request_of: Callable[[hone.Client], object], said: str
) -> None:
    with hone.connect(scripted.endpoint) as client:
        with pytest.raises(hone.InvalidArgument, match=said):
            request_of(client)
        assert client.reset("add_relu", seed=2**63 - 1).episode.step("x", timeout=INF).turn == 1
        assert client.reset("add_relu", seed=-(2**63), timeout=0).info["seed"] == -(2**63)


@pytest.mark.parametrize("option", ["stop_speedup", "stop_reward", "seconds_max"])
@pytest.mark.parametrize("number", [NAN, INF, -INF])
def test_an_option_that_is_not_finite_is_named(real: RealServer, option: str, number: float) -> None:
    with hone.connect(real.endpoint) as client:
        said = rf"{option}: found {number}, expected"
        with pytest.raises(hone.InvalidArgument, match=said) as caught:
            client.reset("add_relu", options={option: number})
        assert len(str(caught.value)) < 200


def test_limits_without_an_end_are_none(scripted: ScriptedServer) -> None:
    given = {"timeout": INF, "connect_timeout": INF, "reconnect_timeout": INF}
    with hone.connect(scripted.endpoint, **given) as client:
        assert client.reset("add_relu").episode.step("x", timeout=1e300).turn == 1


def test_unsendable_value_is_named(scripted: ScriptedServer) -> None:
    with hone.connect(scripted.endpoint) as client:
        for options, said in (
            ({"a": [1, {"b": {1}}]}, "options/a/1/b: cannot send a set"),
            ({"a": {1: 2}}, "options/a: a map's keys must be str"),
            ({"a": object()}, "options/a: cannot send a object"),
        ):
            with pytest.raises(TypeError, match=said):
                client.reset("add_relu", options=options)


def test_a_batch_that_cannot_be_sent_leaves_no_episode(scripted: ScriptedServer) -> None:
    with hone.connect(scripted.endpoint) as client:
        with pytest.raises(hone.InvalidArgument):
            hone.vector.Episodes(client, 3).reset("add_relu", seed=[1, 2, 2**63])
        client.ping()  # what was sent is answered by now, and its close under way
        client.ping()
        assert scripted.open() == []
