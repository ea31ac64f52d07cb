"""chaos: a reward that the harness can compute itself, and that is never 0."""

WORTH = {"no_code": 0.125, "build_failed": 0.25, "wrong": 0.5, "correct": 1.0}


class Reward:
    """By outcome, and a little for the turn, so that a turn that is lost or counted twice shows."""

    version = "1.0.0"
    range = (0, 2)
    returns = "sum"
    parameters = {  # noqa: RUF012 - as in the template of a reward
        "turn": {"default": 0.0078125, "range": [0, 0.01], "doc": "times the turn's number"},
    }

    def __init__(self, config):
        self.turn = config["turn"]

    def score(self, episode):
        return [self.score_turn(turn) if turn["scored"] else None for turn in episode["turns"]]

    def score_turn(self, turn):
        worth = WORTH.get(turn["verdict"]["outcome"], 0.0)
        reward = worth + self.turn * turn["turn"] if worth else 0.0
        return {"reward": reward, "components": {"worth": worth}}
