"""slime on hone: a rollout function around the adapter's, and what slime is started with.

python slime_rollout.py FOLDER [ENDPOINT] writes FOLDER/prompts.jsonl and FOLDER/hone.yaml and
prints the options for slime's train.py.
"""

import sys
from pathlib import Path
from typing import Any

from hone.adapters import slime as hone_slime

TOKENS_FREE = 4096
OPTIONS = """--prompt-data {folder}/prompts.jsonl --input-key prompt --metadata-key metadata
--custom-config-path {folder}/hone.yaml
--custom-generate-function-path slime_rollout.generate
--custom-reward-post-process-path hone.adapters.slime.post_process_rewards
--dynamic-sampling-filter-path hone.adapters.slime.keep_group"""


async def generate(
    args: Any,  # noqa: ANN401 - slime's
    sample: Any,  # noqa: ANN401
    sampling_params: dict[str, Any],
    evaluation: bool = False,
) -> Any:  # noqa: ANN401
    """Plays an episode, and takes something off for long ones, but not off a fault's."""
    sample = await hone_slime.generate(args, sample, sampling_params, evaluation)
    if sample.reward is not None and not evaluation and not hone_slime.is_fault(sample):
        sample.reward -= 1e-5 * max(0, sample.response_length - TOKENS_FREE)
    return sample


def main() -> None:
    """Writes the two files."""
    folder = Path(sys.argv[1])
    endpoint = sys.argv[2] if len(sys.argv) > 2 else "tcp://127.0.0.1:5917"
    folder.mkdir(parents=True, exist_ok=True)
    count = hone_slime.write_prompts(folder / "prompts.jsonl", endpoint=endpoint)
    settings = f'hone: {{endpoint: "{endpoint}", options: {{max_turns: 4}}}}\n'
    (folder / "hone.yaml").write_text(settings)
    print(f"{count} tasks")
    print(OPTIONS.format(folder=folder))


if __name__ == "__main__":
    main()
