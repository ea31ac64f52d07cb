"""verl on hone: writes its data and the file of its agent loop, and prints what to add.

python verl_files.py FOLDER [ENDPOINT]; then verl's own command with the options that it printed.
"""

import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import hone

LOOP = """- name: hone
  _target_: hone.adapters.verl.HoneAgentLoop
  endpoint: {endpoint}
  options: {{max_turns: 4}}
"""
OPTIONS = """data.train_files={folder}/tasks.parquet
data.return_raw_chat=True
actor_rollout_ref.rollout.prompt_length=4096
actor_rollout_ref.rollout.response_length=16384
actor_rollout_ref.rollout.agent.agent_loop_config_path={folder}/loops.yaml
actor_rollout_ref.rollout.agent.default_agent_loop=hone
actor_rollout_ref.rollout.multi_turn.enable=True"""


def main() -> None:
    """Writes the two files: a row for each task of the server, and the agent loop."""
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    folder = Path(sys.argv[1])
    endpoint = sys.argv[2] if len(sys.argv) > 2 else "tcp://127.0.0.1:5917"
    folder.mkdir(parents=True, exist_ok=True)
    with hone.connect(endpoint) as client:
        tasks = client.tasks()
    rows = [
        {
            # The loop asks the server for the prompt; this one is for verl's filters of length.
            "prompt": [{"role": "user", "content": task.title}],
            "data_source": "hone",
            "ability": "code",
            "reward_model": {"style": "rule", "ground_truth": ""},
            "extra_info": {"task": task.id, "index": index},
        }
        for index, task in enumerate(tasks)
    ]
    pq.write_table(pa.Table.from_pylist(rows), folder / "tasks.parquet")
    (folder / "loops.yaml").write_text(LOOP.format(endpoint=endpoint))
    print(f"{len(rows)} tasks")
    print(OPTIONS.format(folder=folder))


if __name__ == "__main__":
    main()
