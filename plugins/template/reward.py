"""my_reward: a bonus for every correct turn, and the logarithm of its speedup."""

import math


class Reward:
    """Bonus for correct, plus log2 of the speedup from 0 to 4."""

    version = "1.0.0"
    range = [0, 5]  # of a turn's reward with the default parameters
    returns = "forward"  # each turn's return looks ahead from it; "sum": all have the whole episode's
    parameters = {
        "bonus": {"default": 1.0, "range": [0, 1], "doc": "what correct is worth"},
        "gamma": {"default": 0.9, "range": [0, 1], "doc": "discount per turn"},
    }

    def __init__(self, config):
        # The configuration is checked against the parameters before it comes here.
        self.bonus = config["bonus"]
        self.gamma = config["gamma"]

    def score(self, episode):
        # Called with the whole episode after every turn: one reward for each turn, and None for a turn that a fault
        # of the machine spoilt. `hone verdicts --json` shows what an episode looks like.
        return [self.turn(turn["verdict"]) if turn["scored"] else None for turn in episode["turns"]]

    def turn(self, verdict):
        correct = self.bonus if verdict["outcome"] == "correct" else 0.0
        speed = 0.0
        speedup = verdict.get("speedup")
        if speedup:
            # A flag, such as "noisy", puts the measurement in doubt: the lower end of its confidence interval counts.
            estimate = speedup["low"] if speedup["flags"] else speedup["value"]
            speed = min(math.log2(max(estimate, 1.0)), 4.0)
        return {"reward": correct + speed, "components": {"correct": correct, "speed": speed}}
