"""A policy learns how to block a matrix product: group-relative policy gradients over autotune.

hone serve configs/autotune.yaml             then
python autotune_learns.py [ENDPOINT] --plot  measures every choice it tries
python autotune_learns.py --record FILE      measures all choices once, and
python autotune_learns.py --recorded FILE    learns from that: one curve for one seed
"""

from __future__ import annotations

import argparse
import json
import math
import random
from collections.abc import Callable
from operator import mul
from pathlib import Path
from typing import Any

import hone
import hone.vector

OPTIONS = {"max_turns": 1, "reward": "kevin", "reward_config": {"correct": 0}}  # the speedup
Rewards = Callable[[list[int]], list["float | None"]]


def measured(client: hone.Client) -> Rewards:
    """Asks hone: an episode of one turn for each choice, all under way at once."""

    def rewards(indices: list[int]) -> list[float | None]:
        episodes = hone.vector.Episodes(client, len(indices))
        episodes.reset(environment="autotune", options=OPTIONS)
        results = episodes.step([{"index": index} for index in indices])
        # None: the machine failed, not the choice. Nothing is learnt from it.
        return [round(r.reward, 3) if r and r.reward is not None else None for r in results]

    return rewards


def learn(knobs: dict[str, list[Any]], rewards: Rewards, given: argparse.Namespace) -> list[float]:
    """Moves a softmax for each knob towards what beat its group; returns the groups' means."""
    random.seed(given.seed)
    logits = [[0.0] * len(values) for values in knobs.values()]
    curve: list[float] = []
    for update in range(given.updates):
        weights = [[math.exp(x - max(row)) for x in row] for row in logits]
        chances = [[x / sum(row) for x in row] for row in weights]
        tried = [[random.choices(range(len(c)), c)[0] for c in chances] for _ in range(given.group)]
        # The last knob turns fastest in a choice's number.
        steps = [math.prod(len(row) for row in logits[i + 1 :]) for i in range(len(logits))]
        earned = rewards([sum(map(mul, places, steps)) for places in tried])
        scored = [(p, r) for p, r in zip(tried, earned, strict=True) if r is not None]
        if not scored:
            continue
        mean = sum(reward for _, reward in scored) / len(scored)
        spread = math.sqrt(sum((reward - mean) ** 2 for _, reward in scored) / len(scored))
        for places, reward in scored:
            advantage = (reward - mean) / (spread + 1e-6) / len(scored)
            for row, odds, place in zip(logits, chances, places, strict=True):
                for i, chance in enumerate(odds):  # the gradient of log p
                    row[i] += given.rate * advantage * ((i == place) - chance)
        curve.append(mean)
        rows = zip(knobs.items(), logits, strict=True)
        likeliest = [f"{name}={values[row.index(max(row))]}" for (name, values), row in rows]
        print(f"update {update + 1:3}: mean reward {mean:6.3f}; {' '.join(likeliest)}", flush=True)
    return curve


def main() -> None:
    """Learns from a server or a recorded table, or records one."""
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("endpoint", nargs="?", default="tcp://127.0.0.1:5917")
    parser.add_argument("--recorded", type=Path)
    parser.add_argument("--record", type=Path)
    parser.add_argument("--plot", action="store_true")
    for name, default in (("--updates", 60), ("--group", 16), ("--seed", 0), ("--rate", 1.0)):
        parser.add_argument(name, type=type(default), default=default)
    given = parser.parse_args()
    if given.recorded:
        table = json.loads(given.recorded.read_text())
        curve = learn(table["knobs"], lambda tried: [table["rewards"][i] for i in tried], given)
    else:
        client = hone.connect(given.endpoint)
        space = client.describe(environment="autotune")["environment"]["space"]
        if given.record:
            every = [measured(client)([i])[0] for i in range(space["size"])]
            given.record.write_text(json.dumps({"knobs": space["knobs"], "rewards": every}) + "\n")
            return
        curve = learn(space["knobs"], measured(client), given)
    low, high = min(curve), max(curve)
    if given.plot:
        print("".join("▁▂▃▄▅▆▇█"[int(7 * (x - low) / (high - low or 1))] for x in curve))
    part = max(1, len(curve) // 4)
    first, last = sum(curve[:part]) / part, sum(curve[-part:]) / part
    print(f"first quarter {first:.3f}, last quarter {last:.3f}")


if __name__ == "__main__":
    main()
