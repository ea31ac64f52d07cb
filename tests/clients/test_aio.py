"""The asyncio client."""

from __future__ import annotations

import asyncio
import inspect
import pydoc
import time
from functools import partial

import hone
import hone.aio
import pytest

from conftest import free_port
from proxy import CuttableProxy
from scripted import ScriptedServer, cancel_and_find_no_episode


def test_many_episodes_on_one_connection(endpoint: str) -> None:
    async def play(client: hone.aio.Client, seed: int) -> int:
        start = await client.reset("add_relu", seed=seed, options={"max_turns": 2})
        while not start.episode.ended:
            result = await start.episode.step(response="no code, wrong")
        assert result.returns is not None
        return len(result.returns)

    async def main() -> list[int]:
        async with hone.aio.connect(endpoint) as client:
            assert (await client.health())["status"] == "serving"
            return await asyncio.gather(*(play(client, seed) for seed in range(8)))

    assert asyncio.run(main()) == [2] * 8


@pytest.mark.parametrize("owner", ["Client", "Episode"])
def test_every_verb_has_the_parameters_and_docstring_of_the_blocking_client(owner: str) -> None:
    blocking, asynchronous = getattr(hone, owner), getattr(hone.aio, owner)
    only_blocking = {"submit"}  # it returns a ticket; coroutines have gather
    own_docstring = {"close", "metrics"}
    functions = {n: getattr(blocking, n) for n in dir(blocking) if n[0] != "_" and n not in only_blocking}
    functions = {name: value for name, value in functions.items() if inspect.isfunction(value)}
    assert len(functions) >= 3
    for name, function in functions.items():
        found = getattr(asynchronous, name)
        assert inspect.signature(found).parameters == inspect.signature(function).parameters, name
        assert inspect.iscoroutinefunction(found), name
        assert not inspect.iscoroutinefunction(function), name
        assert found.__doc__ == function.__doc__ or name in own_docstring, name


def test_help_shows_what_a_verb_returns() -> None:
    returned = [inspect.signature(kind.reset).return_annotation for kind in (hone.Client, hone.aio.Client)]
    assert returned == ["Reset[EpisodeT]"] * 2
    assert "Starts an episode" in pydoc.render_doc(hone.Client)


def test_connect_has_the_parameters_of_the_blocking_connect() -> None:
    found, expected = (inspect.signature(f).parameters for f in (hone.aio.connect, hone.connect))
    assert {n: p.default for n, p in found.items()} == {n: p.default for n, p in expected.items()}


def test_metrics_come_from_the_control_endpoint(endpoint: str) -> None:
    async def main() -> None:
        async with hone.aio.connect(endpoint) as client:
            assert await client.metrics()
            assert "hone_" in await client.metrics(format="prometheus")

    asyncio.run(main())


def test_errors_are_the_blocking_clients(endpoint: str) -> None:
    async def main() -> None:
        async with hone.aio.connect(endpoint) as client:
            with pytest.raises(hone.NotFound, match="ad_relu"):
                await client.reset("ad_relu")
            first = (await client.reset("add_relu")).episode
            assert (await first.close()).turns == 0

    asyncio.run(main())


@pytest.mark.parametrize("answer", ["to come", "not read", "not awaited"])
def test_cancelling_a_reset_leaves_no_episode(scripted: ScriptedServer, answer: str) -> None:
    async def main() -> None:
        async with hone.aio.connect(scripted.endpoint) as client:
            if answer == "to come":
                scripted.holding.add("reset")
            reset = asyncio.create_task(client.reset("add_relu"))
            await asyncio.sleep(0)  # it is sent
            scripted.wait_for("reset")  # the loop stands still: nothing is read
            if answer != "to come":
                time.sleep(0.3)
            if answer == "not awaited":
                client._deliver()
            await cancel_and_find_no_episode(reset, client, scripted)

    asyncio.run(main())


def test_cancelling_the_task_cancels_the_step(scripted: ScriptedServer) -> None:
    async def main() -> None:
        async with hone.aio.connect(scripted.endpoint) as client:
            episode = (await client.reset("add_relu")).episode
            scripted.hold_steps.set()
            step = asyncio.create_task(episode.step("x"))
            await asyncio.to_thread(scripted.wait_for, "step")
            step.cancel()
            with pytest.raises(asyncio.CancelledError):
                await step
            await asyncio.to_thread(scripted.wait_for, "cancel")
            scripted.hold_steps.clear()
            assert (await episode.step("y")).turn == 1

    asyncio.run(main())


def test_a_step_after_a_cancelled_one_waits_for_its_end(scripted: ScriptedServer) -> None:
    async def main() -> None:
        async with hone.aio.connect(scripted.endpoint) as client:
            episode = (await client.reset("add_relu")).episode
            scripted.hold_steps.set()
            scripted.hold_cancelled.set()
            first = asyncio.create_task(episode.step("x"))
            await asyncio.to_thread(scripted.wait_for, "step")
            first.cancel()
            with pytest.raises(asyncio.CancelledError):
                await first
            second = asyncio.create_task(episode.step("y"))
            await asyncio.to_thread(scripted.wait_for, "cancel")
            await client.ping()  # a connection keeps its order: the second step, if sent, is answered by now
            assert scripted.seen["step"] == 1
            assert not second.done()
            scripted.hold_steps.clear()
            scripted.hold_cancelled.clear()
            assert (await second).turn == 1
            assert scripted.evaluations == 1
            assert scripted.seen["cancel"] == 1

    asyncio.run(main())


def test_a_step_behind_a_cancelled_one_can_be_cancelled_too(scripted: ScriptedServer) -> None:
    async def main() -> None:
        async with hone.aio.connect(scripted.endpoint) as client:
            episode = (await client.reset("add_relu")).episode
            scripted.hold_steps.set()
            scripted.hold_cancelled.set()
            steps = [asyncio.create_task(episode.step("x"))]
            await asyncio.to_thread(scripted.wait_for, "step")
            await asyncio.to_thread(scripted.wait_for, "step")
            for name in "yz":
                steps[-1].cancel()
                steps.append(asyncio.create_task(episode.step(name)))
                await client.ping()
            await asyncio.to_thread(scripted.wait_for, "cancel")
            scripted.hold_steps.clear()
            scripted.hold_cancelled.clear()
            assert (await steps[-1]).turn == 1
            assert scripted.seen["step"] == 2

    asyncio.run(main())


def test_a_cancel_that_overtakes_its_step_is_sent_again(scripted: ScriptedServer) -> None:
    async def main() -> None:
        async with hone.aio.connect(scripted.endpoint) as client:
            episode = (await client.reset("add_relu")).episode
            scripted.hold_steps.set()
            scripted.late_steps.set()
            first = asyncio.create_task(episode.step("x"))
            await asyncio.to_thread(scripted.wait_for, "late step")
            first.cancel()
            second = asyncio.create_task(episode.step("y"))
            await asyncio.to_thread(scripted.wait_for, "cancel")
            scripted.late_steps.clear()
            await asyncio.to_thread(scripted.wait_for, "cancel", 2)
            scripted.hold_steps.clear()
            assert (await second).turn == 1
            assert scripted.evaluations == 1

    asyncio.run(main())


def test_a_step_cancelled_on_a_connection_since_lost_is_not_sent_again(scripted: ScriptedServer) -> None:
    async def main() -> None:
        proxy = CuttableProxy(scripted.port)
        async with hone.aio.connect(proxy.endpoint) as client:
            episode = (await client.reset("add_relu")).episode
            scripted.hold_steps.set()
            scripted.hold_cancelled.set()
            first = asyncio.create_task(episode.step("x"))
            await asyncio.to_thread(scripted.wait_for, "step")
            first.cancel()
            await asyncio.to_thread(scripted.wait_for, "cancel")
            proxy.cut()
            scripted.hold_cancelled.clear()
            scripted.hold_steps.clear()
            assert (await episode.step("y")).turn == 1
            assert scripted.seen["step"] == 2
        proxy.close()

    asyncio.run(main())


def test_the_loop_runs_while_a_step_does(scripted: ScriptedServer) -> None:
    async def main() -> None:
        async with hone.aio.connect(scripted.endpoint) as client:
            held = (await client.reset("add_relu")).episode
            scripted.hold_steps.set()
            step = asyncio.create_task(held.step("x"))
            await asyncio.to_thread(scripted.wait_for, "step")
            assert len(await client.tasks()) == 1
            assert (await client.prompt("add_relu"))[-1]["role"] == "user"
            assert not step.done()
            scripted.hold_steps.clear()
            assert (await step).turn == 1

    asyncio.run(main())


def test_progress_is_reported_in_the_event_loop(scripted: ScriptedServer) -> None:
    async def main() -> None:
        async with hone.aio.connect(scripted.endpoint) as client:
            episode = (await client.reset("add_relu")).episode
            scripted.hold_steps.set()
            stages: list[str] = []

            def on_progress(body: dict[str, str]) -> None:
                stages.append(body["stage"])
                scripted.hold_steps.clear()

            assert (await episode.step("x", on_progress=on_progress)).turn == 1
            assert stages == ["building"]

    asyncio.run(main())


def test_an_exception_of_on_progress_cancels_the_step(scripted: ScriptedServer) -> None:
    def fail(body: object) -> None:
        raise LookupError("from on_progress")

    async def main() -> None:
        async with hone.aio.connect(scripted.endpoint) as client:
            episode = (await client.reset("add_relu")).episode
            scripted.hold_steps.set()
            with pytest.raises(LookupError, match="from on_progress"):
                await episode.step("x", on_progress=fail)
            await asyncio.to_thread(scripted.wait_for, "cancel")
            scripted.hold_steps.clear()
            assert (await episode.step("y")).turn == 1

    asyncio.run(main())


def test_close_ends_pending_requests(scripted: ScriptedServer) -> None:
    async def main() -> None:
        client = await hone.aio.connect(scripted.endpoint)
        episode = (await client.reset("add_relu")).episode
        scripted.hold_steps.set()
        step = asyncio.create_task(episode.step("x"))
        await asyncio.to_thread(scripted.wait_for, "step")
        await client.close()
        with pytest.raises(hone.Cancelled, match="the client was closed"):
            await step
        with pytest.raises(hone.FailedPrecondition, match="the client is closed"):
            await client.ping()

    asyncio.run(main())


def test_connect_is_awaited_entered_and_made_a_task(scripted: ScriptedServer) -> None:
    async def main() -> None:
        async with hone.aio.connect(scripted.endpoint) as client:
            assert (await client.health())["status"] == "serving"
        with pytest.raises(hone.FailedPrecondition, match="closed"):
            await client.ping()
        async with await hone.aio.connect(scripted.endpoint) as client:
            assert await client.ping()
        connect = partial(hone.aio.connect, scripted.endpoint)
        made = [
            await connect(),
            await asyncio.create_task(connect()),
            await asyncio.wait_for(connect(), 30),
            *await asyncio.gather(connect(), connect()),
        ]
        for client in made:
            assert await client.ping()
            await client.close()
        connect().close()  # never awaited, and that is said of no coroutine

    asyncio.run(main())
    client = asyncio.run(hone.aio.connect(scripted.endpoint))
    assert client.server["version"] == "hone/1"


def test_failed_connection_raises_on_entry() -> None:
    async def main() -> None:
        with pytest.raises(hone.Unavailable):
            async with hone.aio.connect(f"tcp://127.0.0.1:{free_port()}", connect_timeout=0.1):
                pytest.fail("there is no server")

    asyncio.run(main())
