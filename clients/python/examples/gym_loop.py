"""The Gymnasium loop. Usage: gym_loop.py [ENDPOINT] [TASK]. Needs hone-rl[gym]."""

import sys

import gymnasium

import hone.gym  # registers hone/KernelRefine-v0


def policy(text: str) -> str:
    """Stands for your model: a prompt in, a response with a fenced block out."""
    return f"I read {len(text)} characters.\n```cpp\n// no kernel yet\n```"


def main() -> None:
    """Plays one episode of two turns."""
    endpoint = sys.argv[1] if len(sys.argv) > 1 else "tcp://127.0.0.1:5917"
    task = sys.argv[2] if len(sys.argv) > 2 else "add_relu"
    env = gymnasium.make(hone.gym.ENV_ID, endpoint=endpoint, task=task, options={"max_turns": 2})
    observation, info = env.reset(seed=7)
    print("task:", info["task"])
    ended = False
    while not ended:
        observation, reward, terminated, truncated, info = env.step(policy(observation["text"]))
        ended = terminated or truncated
        scored = reward if info["reward_valid"] else "not scored"
        print(f"turn {observation['turn'][0]}: reward {scored}")
    env.close()


if __name__ == "__main__":
    main()
