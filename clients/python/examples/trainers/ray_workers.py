"""Many Ray workers play on one hone, through one actor. Needs hone-rl[ray] and a server.

python ray_workers.py ANSWERS [ENDPOINT]: ANSWERS is a folder with an answer for each task, ID.md.
"""

import statistics
import sys
from pathlib import Path
from typing import Any

import ray

from hone.adapters.ray import HoneActor, play


@ray.remote(num_cpus=0.5)  # type: ignore[untyped-decorator]
def worker(hone: Any, task: str, folder: str, samples: int) -> list[dict[str, Any]]:  # noqa: ANN401
    """Plays a group of samples of one task; here is where a model would answer."""
    file = Path(folder) / f"{task.rpartition('/')[2]}.md"

    def model(messages: list[dict[str, str]]) -> str:
        return file.read_text() if file.exists() else "I do not know."

    return [play(hone, model, task, group=f"group-{task}") for _ in range(samples)]


def main() -> None:
    """Prints each task's mean score, of the samples that were scored."""
    folder = sys.argv[1]
    endpoint = sys.argv[2] if len(sys.argv) > 2 else "tcp://127.0.0.1:5917"
    ray.init(include_dashboard=False, logging_level="warning")
    hone = HoneActor.remote(endpoint, {"max_turns": 1})
    tasks = [Path(file).stem for file in sorted(Path(folder).glob("*.md"))]
    played = ray.get([worker.remote(hone, task, folder, 2) for task in tasks])
    for task, samples in zip(tasks, played, strict=True):
        scores = [one["score"] for one in samples if one["reward_valid"]]
        mean = f"{statistics.fmean(scores):.3f}" if scores else "not scored"
        print(f"{task}: {mean} ({len(scores)} of {len(samples)} samples)")
    ray.shutdown()


if __name__ == "__main__":
    main()
