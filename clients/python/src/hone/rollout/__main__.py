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

Started again with the same arguments it goes on where it stopped, and asks nothing twice.
Exit status: 0 all samples are finished, 2 wrong usage, 3 some could not be, 130 interrupted."""


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
        options={name: value for name, value in named.items() if value is not None},
    )


def _dataset(text: str) -> tuple[str, int | None]:
    """``NAME`` or ``NAME:COUNT``."""
    name, colon, count = text.partition(":")
    if not name or (colon and not (count.isdecimal() and int(count) > 0)):
        raise UsageError(f"--dataset: found {text!r}, expected NAME or NAME:COUNT")
    return name, int(count) if colon else None


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
        description="Has a model play a server's tasks, and keeps what it said and what came of it",
        epilog=_EPILOGUE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    model = parser.add_argument_group("the model")
    add = model.add_argument
    add("--url", "--vllm-url", required=True, help="OpenAI-compatible: http://HOST:PORT/v1")
    add("--model", help="its name; without one the endpoint is asked which it has")
    add("--api-key-file", metavar="FILE", help="the key is its one line")
    add("--temperature", type=_amount, help="without it, the endpoint's own")
    add("--max-tokens", type=_count, metavar="N", help="of an answer")
    add("--stream", action="store_true", help="have answers streamed")
    add("--retries", type=int, default=6, metavar="N", help="of a request (6)")
    add("--retry-wait", type=_amount, default=1.0, metavar="S", help="before the first (1)")
    add("--request-timeout", type=_amount, default=600.0, metavar="S", help="without a byte (600)")
    add("--price-input", type=_amount, default=0.0, metavar="P", help="of 1e6 tokens of prompts")
    add("--price-output", type=_amount, default=0.0, metavar="P", help="of 1e6 tokens of answers")
    _add_tasks(parser)
    run_group = parser.add_argument_group("the run")
    add = run_group.add_argument
    add("--output", required=True, metavar="FILE", help="traces in the seed's layout, JSON")
    add("--batch-size", type=_count, default=8, metavar="N", help="samples at once (8)")
    add("--save-interval", type=_count, default=10, metavar="N", help="samples between writes (10)")
    add(
        "--min-speedup",
        type=_amount,
        default=0.0,
        metavar="X",
        help="of what is kept to learn from",
    )
    add("--json", action="store_true", help="print the summary as JSON")
    add("--quiet", action="store_true", help="show no progress")
    server = parser.add_argument_group("hone's server")
    add = server.add_argument
    add("--endpoint", default=DEFAULT_ENDPOINT, help=f"({DEFAULT_ENDPOINT})")
    add("--key", metavar="FILE", help="this client's key")
    add("--server-key", metavar="FILE", help="the server's public key")
    add("--step-timeout", type=_amount, default=600.0, metavar="S", help="of a verdict (600)")
    return parser


def _add_tasks(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what is played")
    add = group.add_argument
    add("--tasks", nargs="+", default=[], metavar="TASK", help="ids; 'kernelbench/level1/*' too")
    add("--dataset", action="append", default=[], metavar="NAME[:N]", help="all of it, or N tasks")
    add("--kernelbench-samples", type=int, default=0, metavar="N", help="N tasks of kernelbench")
    add("--kernelbook-samples", type=int, default=0, metavar="N", help="N tasks of kernelbook")
    add("--seed", type=int, help="draws the N; without it they are the first")
    add("--samples", type=_count, default=1, metavar="N", help="of each task (1)")
    add("--once", action="store_true", help="no second attempt at a sample that failed wholly")
    add("--multi-turn", action="store_true", help="have feedback answered")
    add("--max-turns", type=_count, metavar="N", help=f"with --multi-turn ({DEFAULT_TURNS})")
    add("--prompt", choices=("zero_shot", "few_shot"), help="the form of the prompt")
    add("--hardware", metavar="TEXT", help="what the prompt says of the machine")
    add("--language", help="one of the tasks'")
    add("--reward", metavar="NAME", help="the server's reward plugin")


if __name__ == "__main__":
    sys.exit(main())
