"""Eight episodes at once on one connection, with asyncio. Usage: eight_episodes.py [ENDPOINT]."""

import asyncio
import sys

import hone
import hone.aio


async def play(client: hone.aio.Client, seed: int) -> float | None:
    """Plays one episode and returns its return; None where the machine was at fault."""
    start = await client.reset("add_relu", seed=seed, group="example", options={"max_turns": 2})
    while not start.episode.ended:
        # Your model's answer to start.observation["messages"] goes here.
        answer = f"```cpp\n// attempt {start.episode.turn + 1} of seed {seed}\n```"
        result = await start.episode.step(response=answer)
        if not result.reward_valid:
            return None
    return result.return_to_date


async def main() -> None:
    """Plays eight episodes and prints the result of each."""
    endpoint = sys.argv[1] if len(sys.argv) > 1 else "tcp://127.0.0.1:5917"
    async with hone.aio.connect(endpoint) as client:
        returns = await asyncio.gather(*(play(client, seed) for seed in range(8)))
    for seed, value in enumerate(returns):
        print(f"seed {seed}: {value}")


if __name__ == "__main__":
    asyncio.run(main())
