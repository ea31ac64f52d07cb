"""The smallest loop: one episode, a kernel per turn. Usage: minimal.py [ENDPOINT] [TASK]."""

import sys

import hone

FIRST = 'extern "C" void add_relu(const float*, const float*, float*, long) {}\n'


def next_kernel(feedback: str) -> str:
    """Stands for your model: reads the feedback, writes the next kernel."""
    print("feedback:", feedback.strip().splitlines()[0] if feedback.strip() else "(none)")
    return FIRST


def main() -> None:
    """Plays one episode of two turns."""
    endpoint = sys.argv[1] if len(sys.argv) > 1 else "tcp://127.0.0.1:5917"
    task = sys.argv[2] if len(sys.argv) > 2 else "add_relu"
    with hone.connect(endpoint) as client:
        start = client.reset(task, options={"max_turns": 2})
        feedback = ""
        while not start.episode.ended:
            result = start.episode.step(next_kernel(feedback))
            feedback = result.observation["feedback"]
            scored = result.reward if result.reward_valid else "not scored"
            print(f"turn {result.turn}: reward {scored}")
        print("returns:", result.returns)


if __name__ == "__main__":
    main()
