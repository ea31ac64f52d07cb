"""GRPO with TRL on every task of a server: the model calls submit_kernel. Needs hone-rl[trl]."""

import argparse

import torch
from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer

from hone.adapters import trl as hone_trl


def main() -> None:
    """Trains and prints the mean reward of each step."""
    parser = argparse.ArgumentParser()
    parser.add_argument("model", help="a folder or a name; its chat template must know tools")
    parser.add_argument("--endpoint", default="tcp://127.0.0.1:5917")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--tokens", type=int, default=8192, help="of a whole episode")
    parser.add_argument("--output", default="hone-grpo")
    given = parser.parse_args()

    play = hone_trl.Environments(given.endpoint, options={"max_turns": 4})
    config = GRPOConfig(
        output_dir=given.output,
        max_steps=given.steps,
        num_generations=4,
        per_device_train_batch_size=4,
        max_completion_length=given.tokens,
        logging_steps=1,
        report_to=[],
        bf16=torch.accelerator.is_available(),
    )
    trainer = GRPOTrainer(
        model=given.model,
        args=config,
        train_dataset=Dataset.from_list(play.rows()),
        environment_factory=play,  # also the reward: None after a fault of the machine
    )
    trainer.train()
    for entry in trainer.state.log_history:
        if "reward" in entry:
            print(f"step {entry['step']}: reward {entry['reward']}")


if __name__ == "__main__":
    main()
