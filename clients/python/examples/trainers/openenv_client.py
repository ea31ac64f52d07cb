"""Plays an episode over OpenEnv: a client of its kind. Needs hone-rl[openenv].

The server: python -m hone openenv --endpoint tcp://127.0.0.1:5917 --port 8000
Then: python openenv_client.py URL TASK FILE..., a kernel's source for each turn.
"""

import sys
from pathlib import Path

from hone.adapters.openenv import HoneAction, HoneEnv


def main() -> None:
    """Prints a line for each turn."""
    url, task, *files = sys.argv[1:]
    # A verdict takes seconds; OpenEnv's own limit is one minute.
    with HoneEnv(base_url=url, message_timeout_s=600).sync() as env:
        result = env.reset(task=task)
        print(result.observation.messages[-1]["content"].splitlines()[0])
        for file in files:
            if result.done:
                break
            result = env.step(HoneAction(code=Path(file).read_text()))
            seen = result.observation
            if not seen.reward_valid:
                print(f"turn {seen.turn}: not scored, do not train on this: {seen.fault}")
                break
            print(f"turn {seen.turn}: {seen.outcome}, reward {result.reward:.3f}")
        print(f"return {result.observation.return_to_date}")


if __name__ == "__main__":
    main()
