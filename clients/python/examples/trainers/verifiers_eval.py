"""Evaluates a model on hone with verifiers' runner, in one process. Needs hone-rl[verifiers].

The same from a shell: vf-eval hone-kernels -m MODEL --no-push --client.base-url URL
--env.taskset.endpoint ENDPOINT
"""

import argparse
import asyncio
import statistics

import verifiers.v1 as vf

from hone.adapters.verifiers import HoneEnv, HoneEnvConfig


async def evaluate(env: HoneEnv, context: vf.ModelContext, count: int) -> list[vf.Episode]:
    """Plays an episode of each of the first tasks, all at the same time."""
    tasks = list(env.taskset.take(count))
    async with env.serving():
        slots = [slot for task in tasks for slot in env.slots(task)]
        return await asyncio.gather(*(env.run_slot(slot, context) for slot in slots))


def main() -> None:
    """Prints how many episodes were judged, and their mean reward."""
    parser = argparse.ArgumentParser()
    parser.add_argument("url", help="of an OpenAI-compatible endpoint, with /v1")
    parser.add_argument("model")
    parser.add_argument("--endpoint", default="tcp://127.0.0.1:5917")
    parser.add_argument("--count", type=int, default=8)
    given = parser.parse_args()
    taskset = {"id": "hone-kernels", "endpoint": given.endpoint, "options": {"max_turns": 4}}
    env = HoneEnv(HoneEnvConfig(taskset=taskset, retries={"max_retries": 2}))
    client = vf.EvalClientConfig(base_url=given.url)
    context = vf.ModelContext(model=given.model, client=client)
    episodes = asyncio.run(evaluate(env, context, given.count))
    # A fault of the machine left an episode that is not ok and has no reward.
    scores = [e.traces[-1].rewards["hone"].score for e in episodes if e.ok]
    mean = f"{statistics.fmean(scores):.3f}" if scores else "none"
    print(f"{len(scores)} of {len(episodes)} episodes were judged; mean reward {mean}")


if __name__ == "__main__":
    main()
