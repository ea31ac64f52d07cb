"""SkyRL on hone: started in place of skyrl.train.entrypoints.main_base. Needs hone-rl[skyrl].

python skyrl_main.py ENDPOINT tasks.jsonl          writes SkyRL's data, a line for each task; then
python skyrl_main.py ENDPOINT OPTION=VALUE ...     trains, with SkyRL's own options and these:
    "data.train_data=['tasks.jsonl']" generator.batched=false generator.max_turns=4
"""

import sys
from typing import Any

import ray
from skyrl.train.config import SkyRLTrainConfig
from skyrl.train.entrypoints.main_base import BasePPOExp, validate_cfg
from skyrl.train.utils import initialize_ray

from hone.adapters import skyrl as hone_skyrl


class HoneExp(BasePPOExp):  # type: ignore[misc]
    """SkyRL's experiment with a generator that keeps faults of the machine out of training."""

    def get_generator(self, *given: Any, **named: Any) -> Any:  # noqa: ANN401 - SkyRL's
        """SkyRL's own generator, masked."""
        return hone_skyrl.Masked(super().get_generator(*given, **named))


@ray.remote(num_cpus=1)  # type: ignore[untyped-decorator]
def train(config: SkyRLTrainConfig, endpoint: str) -> None:
    """Runs where SkyRL's trainer and generator do: there the environment is registered."""
    hone_skyrl.register(endpoint)
    HoneExp(config).run()


def main() -> None:
    """Writes the data, or trains."""
    endpoint, *options = sys.argv[1:]
    if len(options) == 1 and "=" not in options[0]:
        print(f"{hone_skyrl.write_prompts(options[0], endpoint=endpoint)} tasks")
        return
    config = SkyRLTrainConfig.from_cli_overrides(options)
    validate_cfg(config)
    initialize_ray(config)
    ray.get(train.remote(config, endpoint))


if __name__ == "__main__":
    main()
