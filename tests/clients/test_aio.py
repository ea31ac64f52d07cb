"""The asyncio client."""

from __future__ import annotations

import asyncio

import hone
import hone.aio
import pytest

from scripted import ScriptedServer


def test_many_episodes_on_one_connection(endpoint: str) -> None:
    async def play(client: hone.aio.Client, seed: int) -> int:
        start = await client.reset("add_relu", seed=seed, options={"max_turns": 2})
        while not start.episode.ended:
            result = await start.episode.step(response="no code, wrong")
        assert result.returns is not None
        return len(result.returns)

    async def main() -> list[int]:
        async with await hone.aio.connect(endpoint) as client:
            assert (await client.health())["status"] == "serving"
            return await asyncio.gather(*(play(client, seed) for seed in range(8)))

    assert asyncio.run(main()) == [2] * 8


def test_errors_are_the_blocking_clients(endpoint: str) -> None:
    async def main() -> None:
        async with await hone.aio.connect(endpoint) as client:
            with pytest.raises(hone.NotFound, match="ad_relu"):
                await client.reset("ad_relu")
            first = (await client.reset("add_relu")).episode
            assert (await first.close()).turns == 0

    asyncio.run(main())


def test_cancelling_the_task_cancels_the_step(scripted: ScriptedServer) -> None:
    async def main() -> None:
        async with await hone.aio.connect(scripted.endpoint) as client:
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


def test_the_loop_runs_while_a_step_does(scripted: ScriptedServer) -> None:
    async def main() -> None:
        async with await hone.aio.connect(scripted.endpoint) as client:
            held = (await client.reset("add_relu")).episode
            scripted.hold_steps.set()
            step = asyncio.create_task(held.step("x"))
            await asyncio.to_thread(scripted.wait_for, "step")
            assert len(await client.tasks()) == 1
            assert not step.done()
            scripted.hold_steps.clear()
            assert (await step).turn == 1

    asyncio.run(main())


def test_closing_ends_what_waits(scripted: ScriptedServer) -> None:
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
