"""The summary of a rollout: fast_p as in KernelBench, tokens, spend."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from ._attempt import Attempt
from ._settings import Settings

THRESHOLDS = (0.0, 0.5, 0.8, 1.0, 1.5, 2.0)


def fast_p(attempts: Sequence[Attempt], p: float) -> float | None:
    """The share of samples whose best answer is right and more than p times as fast.

    fast_0 is the share of right ones. Samples without a score, through a fault of the machine, do
    not count; None where there are no others, and for p > 0 where a right one was not measured.
    """
    scored = [one for one in attempts if one.reason is not None and one.reason != "fault"]
    if not scored:
        return None
    if p > 0.0 and any(_unmeasured(one) for one in scored):
        return None
    good = sum(one.best is not None and (p == 0.0 or one.best.speedup > p) for one in scored)
    return good / len(scored)


def _unmeasured(attempt: Attempt) -> bool:
    return attempt.best is not None and not attempt.best.speedup > 0.0


def tokens_of(attempts: Iterable[Attempt]) -> tuple[int, int]:
    """Of all prompts and of all answers."""
    prompts = answers = 0
    for attempt in attempts:
        for said in attempt.answers:
            prompts += int(said.get("prompt_tokens") or 0)
            answers += int(said.get("completion_tokens") or 0)
    return prompts, answers


def spend(settings: Settings, prompts: int, answers: int) -> float:
    """The cost of these tokens, in the prices' currency."""
    return (prompts * settings.price_input + answers * settings.price_output) / 1e6


def summary(
    settings: Settings, counted: Sequence[Attempt], every: Sequence[Attempt]
) -> dict[str, Any]:
    """All of it as one object.

    Args:
        settings: Of the rollout.
        counted: What counts of each sample.
        every: Also what was tried again, which was paid for.
    """
    prompts, answers = tokens_of(every)
    over = [one for one in counted if one.reason is not None]
    datasets = sorted({one.task.partition("/")[0] for one in counted})
    best = [one.best.speedup for one in over if one.best is not None and one.best.speedup > 0]
    return {
        "samples": len(counted),
        "finished": len(over),
        "correct": sum(one.best is not None for one in over),
        "not_measured": sum(_unmeasured(one) for one in over),
        "unscored": sum(one.reason == "fault" for one in over),
        "tried_again": len(every) - len(counted),
        "answers": sum(len(one.turns) for one in every),
        "tool_calls": dict(
            Counter(
                result["tool"]
                for one in every
                for use in one.uses
                for result in use.results
                if result["call"] is not None
            )
        ),
        "stop_reasons": dict(Counter(str(one.reason) for one in over)),
        "fast_p": {f"{p:g}": fast_p(over, p) for p in THRESHOLDS},
        "by_dataset": {
            name: {f"{p:g}": fast_p(_of(over, name), p) for p in THRESHOLDS} for name in datasets
        },
        "median_speedup": statistics.median(best) if best else None,
        "tokens": {"prompt": prompts, "completion": answers},
        "spend": spend(settings, prompts, answers),
    }


def _of(attempts: Sequence[Attempt], dataset: str) -> list[Attempt]:
    return [one for one in attempts if one.task.partition("/")[0] == dataset]


def words(totals: dict[str, Any]) -> str:
    """The summary for a person."""
    unfinished = totals["samples"] - totals["finished"]
    lines = [
        f"{totals['finished']} of {totals['samples']} samples finished, {totals['correct']} correct"
        + (f", {totals['not_measured']} of them not measured" if totals["not_measured"] else "")
        + (f", {totals['unscored']} not scored" if totals["unscored"] else "")
        + (f", {unfinished} unfinished: run the same command to continue" if unfinished else "")
    ]
    rows = [("all", totals["fast_p"]), *totals["by_dataset"].items()]
    if len(rows) == 2:
        rows = rows[:1]
    for name, shares in rows:
        cells = "  ".join(
            f"fast_{p} {'-' if share is None else f'{share:.1%}'}" for p, share in shares.items()
        )
        lines.append(f"{name}: {cells}")
    if totals["median_speedup"] is not None:
        lines.append(f"median speedup of the correct ones {totals['median_speedup']:.2f}x")
    tokens = totals["tokens"]
    lines.append(
        f"{totals['answers']} answers, {tokens['prompt']:,} + {tokens['completion']:,} tokens"
        + (f", {totals['spend']:.2f} spent" if totals["spend"] else "")
    )
    if totals["tool_calls"]:
        used = ", ".join(f"{tool} {count}" for tool, count in totals["tool_calls"].items())
        lines.append(f"tool calls: {used}")
    return "\n".join(lines)
