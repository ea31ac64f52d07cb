"""``python -m hone.rollout``: the program, which ``hone rollout`` starts."""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hone._functions import tool_uses
from hone._requests import DEFAULT_ENDPOINT
from hone.errors import HoneError

from . import RunFailed, Settings, UsageError, run
from ._settings import DEFAULT_TURNS, chat_url
from ._summary import words

__all__ = [
    "main",
]

_EPILOGUE = """Examples:
  hone rollout --url http://127.0.0.1:8000/v1 --output traces.json --tasks add_relu softmax
  hone rollout --vllm-url http://gpu:8000 --output t.json --dataset tasks --multi-turn --samples 4
  hone rollout --url URL --output t.json --kernelbench-samples 100 --multi-turn --max-turns 4

The same command continues an interrupted run and repeats no answered request.
Exit status: 0 all samples are finished, 2 wrong usage, 3 some samples could not be finished,
130 interrupted."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Reads the command line, plays, prints the summary; returns the exit status."""
    parser = _parser()
    given = parser.parse_args(arguments)
    try:
        settings = _settings(given)
        totals = asyncio.run(_interruptible(settings, given.quiet))
    except UsageError as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 2
    except (RunFailed, HoneError, OSError) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        print("  the same command goes on from here", file=sys.stderr)
        return 3
    except asyncio.CancelledError:
        print(f"{parser.prog}: interrupted; the same command goes on", file=sys.stderr)
        return 130
    if given.json:
        print(json.dumps(totals))
    else:
        print(words(totals))
        print(f"{totals['kept']} conversations kept; files: {', '.join(totals['files'])}")
    return 0 if totals["finished"] == totals["samples"] else 3


async def _interruptible(settings: Settings, quiet: bool) -> dict[str, Any]:
    """Ends in order on Ctrl-C and SIGTERM: what is there is written."""
    playing = asyncio.current_task()
    assert playing is not None
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, playing.cancel)
    return await run(settings, show=None if quiet else sys.stderr)


def _settings(given: argparse.Namespace) -> Settings:
    chat_url(given.url)
    if given.max_turns is not None and not given.multi_turn:
        raise UsageError("--max-turns is for --multi-turn: without it a sample has one turn")
    datasets = [_dataset(text) for text in given.dataset]
    for name in ("kernelbook", "kernelbench"):
        count = getattr(given, f"{name}_samples")
        datasets += [(name, count)] if count else []
    named = {name: getattr(given, name) for name in ("prompt", "hardware", "language", "reward")}
    return Settings(
        url=given.url,
        output=Path(given.output),
        model=given.model,
        api_key=_key(given.api_key_file),
        endpoint=given.endpoint,
        key=given.key,
        server_key=given.server_key,
        tasks=tuple(given.tasks),
        datasets=tuple(datasets),
        seed=given.seed,
        samples=given.samples,
        once=given.once,
        multi_turn=given.multi_turn,
        max_turns=given.max_turns or DEFAULT_TURNS,
        batch_size=given.batch_size,
        save_interval=given.save_interval,
        temperature=given.temperature,
        max_tokens=given.max_tokens,
        stream=given.stream,
        request_timeout=given.request_timeout,
        retries=given.retries,
        retry_wait=given.retry_wait,
        step_timeout=given.step_timeout,
        price_input=given.price_input,
        price_output=given.price_output,
        min_speedup=given.min_speedup,
        tools=None if given.tools is None else _tools(given.tools),
        options={name: value for name, value in named.items() if value is not None},
    )


def _dataset(text: str) -> tuple[str, int | None]:
    """``NAME`` or ``NAME:COUNT``."""
    name, colon, count = text.partition(":")
    if not name or (colon and not (count.isdecimal() and int(count) > 0)):
        raise UsageError(f"--dataset: found {text!r}, expected NAME or NAME:COUNT")
    return name, int(count) if colon else None


def _tools(text: str) -> dict[str, int]:
    try:
        return tool_uses(text)
    except ValueError as error:
        raise UsageError(f"--tools: {error}") from None


def _key(path: str | None) -> str | None:
    if path is None:
        return None
    try:
        key = Path(path).read_text(encoding="utf-8-sig").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--api-key-file: {path}: {error}") from error
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise UsageError(f"--api-key-file: {path}: expected one key on one line")
    return key


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"found {value}, expected at least 1")
    return value


def _amount(text: str) -> float:
    value = float(text)
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"found {text}, expected a number from 0")
    return value


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="hone rollout",
        description="Let a model behind an OpenAI-compatible endpoint play a server's tasks.",
        epilog=_EPILOGUE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    model = parser.add_argument_group("model")
    add = model.add_argument
    add("--url", "--vllm-url", required=True, help="base URL of the endpoint: http://HOST:PORT/v1")
    add("--model", help="name of the model (default: the endpoint's only one)")
    add("--api-key-file", metavar="FILE", help="file with the API key on one line")
    add("--temperature", type=_amount, help="sampling temperature (default: the endpoint's)")
    add("--max-tokens", type=_count, metavar="N", help="maximum number of tokens of an answer")
    add("--stream", action="store_true", help="stream the answers")
    add("--retries", type=int, default=6, metavar="N", help="retries of a request (default: 6)")
    add(
        "--retry-wait",
        type=_amount,
        default=1.0,
        metavar="S",
        help="wait before the first retry (s, default: 1)",
    )
    add(
        "--request-timeout",
        type=_amount,
        default=600.0,
        metavar="S",
        help="longest wait for the next byte of a reply (s, default: 600)",
    )
    for side, tokens in (("input", "prompt"), ("output", "answer")):
        said = f"price of a million {tokens} tokens"
        add(f"--price-{side}", type=_amount, default=0.0, metavar="P", help=said)
    _add_tasks(parser)
    run_group = parser.add_argument_group("run")
    add = run_group.add_argument
    add(
        "--output",
        required=True,
        metavar="FILE",
        help="file for the traces, in the KernelBench Triton layout",
    )
    add("--batch-size", type=_count, default=8, metavar="N", help="samples at a time (default: 8)")
    add(
        "--save-interval",
        type=_count,
        default=10,
        metavar="N",
        help="samples between writes (default: 10)",
    )
    add(
        "--min-speedup",
        type=_amount,
        default=0.0,
        metavar="X",
        help="smallest speedup of a conversation in the file for SFT (default: 0)",
    )
    add("--json", action="store_true", help="print the summary as JSON")
    add("--quiet", action="store_true", help="show no progress")
    server = parser.add_argument_group("server")
    add = server.add_argument
    add(
        "--endpoint",
        default=DEFAULT_ENDPOINT,
        help=f"address of hone serve (default: {DEFAULT_ENDPOINT})",
    )
    add("--key", metavar="FILE", help="client key file, if the server requires keys")
    add("--server-key", metavar="FILE", help="public key of the server (default: from --key)")
    add(
        "--step-timeout",
        type=_amount,
        default=600.0,
        metavar="S",
        help="timeout of a step (s, default: 600)",
    )
    return parser


def _add_tasks(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("tasks")
    add = group.add_argument
    add(
        "--tasks",
        nargs="+",
        default=[],
        metavar="TASK",
        help="tasks by id, or patterns such as 'kernelbench/level1/*'",
    )
    add(
        "--dataset",
        action="append",
        default=[],
        metavar="NAME[:N]",
        help="a dataset, or N of its tasks (repeatable)",
    )
    for name in ("kernelbench", "kernelbook"):
        said = f"N tasks of the dataset {name}"
        add(f"--{name}-samples", type=int, default=0, metavar="N", help=said)
    add("--seed", type=int, help="seed of a random selection (default: the first N tasks)")
    add("--samples", type=_count, default=1, metavar="N", help="samples of each task (default: 1)")
    add("--once", action="store_true", help="do not repeat a sample in which no turn was correct")
    add("--multi-turn", action="store_true", help="play several turns, with feedback")
    add(
        "--max-turns",
        type=_count,
        metavar="N",
        help=f"turns with --multi-turn (default: {DEFAULT_TURNS})",
    )
    add("--prompt", choices=("zero_shot", "few_shot"), help="form of the prompt")
    add("--hardware", metavar="TEXT", help="description of the machine in the prompt")
    add("--language", help="language of the submissions (default: the task's)")
    add("--reward", metavar="NAME", help="reward plugin (default: the server's)")
    add(
        "--tools",
        metavar="NAME=N,...",
        help="uses of each tool in an episode, or none (default: the server's)",
    )


if __name__ == "__main__":
    sys.exit(main())
