"""The files of a rollout: traces in the seed's layout and in hone's, and the kept conversations."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from hone._functions import parse_json

from ._attempt import Attempt, Turn

_LEVEL = re.compile(r"level_?(\d+)/(?:problem_)?(\d+)")
_REFERENCE = re.compile(r"^(`{3,})python\n(.*?)^\1$", re.DOTALL | re.MULTILINE)
Json = dict[str, Any]


def seed_trace(attempt: Attempt, samples: int) -> Json:
    """A trace as the KernelBench Triton pipeline writes them."""
    dataset, _, problem = attempt.task.partition("/")
    facts = attempt.start.get("task") or {}
    level = _LEVEL.fullmatch(problem)
    number = int(level[2]) if level else None
    name_of_problem = problem if number is None else str(number)
    key = f"{dataset}_{name_of_problem.removeprefix(dataset + '_')}"
    last = attempt.turns[-1] if attempt.turns else None
    name = str(facts.get("title") or "generated_kernel")
    said = [_seed_turn(i, turn, name) for i, turn in enumerate(attempt.turns, 1)]
    if said:
        said[-1]["feedback_given"] = ""  # the model did not get it
    return {
        "sample_key": key if samples == 1 else f"{key}_sample_{attempt.sample}",
        "source": dataset,
        "level": int(level[1]) if level else None,
        "name": facts.get("title"),
        "problem_id": number,
        "pytorch_code": _module_of(facts),
        "num_turns": len(attempt.turns),
        "stop_reason": attempt.reason,
        "final_triton_code": last.code if last else "",
        "final_result": said[-1]["result"] if said else None,
        "turns": said,
        "full_messages": _sent(attempt),
        "timestamp": _time(last.at if last else attempt.start.get("at")),
    }


def _module_of(facts: Json) -> str:
    """The reference of a task that is a module, which its description ends with; else all of it."""
    description = str(facts.get("description") or "")
    reference = _REFERENCE.findall(description)
    return str(reference[-1][1]) if reference else description


def _sent(attempt: Attempt) -> list[Json]:
    """The messages of the last request."""
    return attempt.messages_until(max(len(attempt.turns), 1))


def _seed_turn(number: int, turn: Turn, name: str) -> Json:
    return {
        "turn": number,
        "reasoning": turn.answer.get("reasoning"),
        "triton_code": turn.code,
        "full_completion": turn.answer["text"],
        "result": _seed_result(turn, name),
        "feedback_given": (turn.result or {}).get("feedback") or "",
    }


def _seed_result(turn: Turn, name: str) -> Json:
    measured = turn.verdict.get("speedup") or {}
    speedup = turn.speedup
    return {
        "kernel_name": name,
        "timestamp": _time(turn.at),
        "correctness": turn.correct,
        "speedup": speedup,
        "reference_time_ms": _ms(measured.get("baseline_us")),
        "kernel_time_ms": _ms(measured.get("time_us")),
        "fast_0": turn.correct,
        "fast_1": speedup > 1.0,
        "fast_2": speedup >= 2.0,
        "error": _error_of(turn),
    }


def _error_of(turn: Turn) -> str | None:
    """None also where the results are wrong: that layout has errors for what did not run alone."""
    if turn.correct or turn.verdict.get("outcome") == "wrong":
        return None
    if turn.result is None:
        return "not judged"
    if not turn.scored:
        return f"not scored: {turn.result['info'].get('fault') or 'a fault of the machine'}"
    verdict = turn.verdict
    said = [str(verdict.get("outcome")), str(verdict.get("reason") or "")]
    text = ": ".join(part for part in said if part)
    return "\n".join(part for part in (text, str(verdict.get("diagnostics") or "")) if part)


def _ms(us: float | None) -> float | None:
    return None if us is None else us / 1000.0


def _time(at: float | None) -> str | None:
    if at is None:
        return None
    return datetime.fromtimestamp(at, timezone.utc).replace(tzinfo=None).isoformat()


def hone_trace(attempt: Attempt, environment: str, reward: Json) -> Json:
    """A row as ``hone export`` writes them, in the form ``trajectories``."""
    start, turns = attempt.start, attempt.turns
    rows: list[Json] = []
    calls: list[Json] = []
    for number, turn in enumerate(turns, 1):
        at = len(attempt.messages_until(number))
        result = turn.result or {}
        rows.append(
            {
                "turn": number,
                "message": at,
                "action": json.dumps({"response": turn.answer["text"]}),
                "verdict": turn.verdict or None,
                **{key: result.get(key) for key in ("reward", "reward_valid", "return_to_date")},
                "components": (result.get("info") or {}).get("components") or {},
                **{key: result.get(key) for key in ("feedback", "terminated", "truncated")},
                "at": turn.at,
            }
        )
    for number in range(1, len(turns) + 2):
        calls += _calls_of(attempt, number)
    info = start.get("info") or {}
    last = (turns[-1].result or {}) if turns else {}
    return {
        **{"episode": start.get("episode"), "environment": environment, "task": attempt.task},
        **{"backend": (start.get("task") or {}).get("backend"), "client": "rollout"},
        **{"group": info.get("group"), "seed": info.get("seed")},
        **{"state": "ended" if attempt.reason else "open", "opened_at": start.get("at")},
        **{"reward": reward, "parent": None, "parent_turn": None, "prompt_lost": False},
        **{"messages": attempt.messages, "turns": rows, "calls": calls},
        **{"returns": last.get("returns") or []},
        **{"sample": attempt.sample, "attempt": attempt.number, "stop_reason": attempt.reason},
    }


def _calls_of(attempt: Attempt, turn: int) -> list[Json]:
    """The tool calls of a turn that the server did."""
    uses = [use for use in attempt.uses if use.turn == turn]
    at = len(attempt.messages_until(turn)) - sum(len(use.messages) for use in uses)
    rows: list[Json] = []
    ended = attempt.turns[turn - 1] if turn <= len(attempt.turns) else None
    reward = (ended.result or {}).get("reward") if ended is not None else None
    for use in uses:
        for call, result in zip(use.answer["tool_calls"], use.results, strict=False):
            if result["call"] is None:
                continue
            arguments = parse_json(call["function"]["arguments"])
            action = json.dumps({"tool": result["tool"], **arguments})
            rows.append(
                {
                    **{"turn": turn, "call": result["call"], "tool": result["tool"]},
                    **{"message": at, "action": action, "facts": result["facts"]},
                    **{"verdict": None, "feedback": result["content"], "at": use.at},
                    "turn_reward": reward,
                }
            )
        at += len(use.messages)
    return rows


def kept(attempts: Iterable[Attempt], min_speedup: float) -> list[Json]:
    """The rejection filter: conversations that end with their best answer, where that is right.

    Args:
        attempts: What counts of each sample.
        min_speedup: Of the best answer; 0 keeps also what was not measured.

    Returns:
        Rows as ``hone export --as sft`` writes them.
    """
    rows = []
    for attempt in attempts:
        best = attempt.best
        if best is None or best.speedup < min_speedup:
            continue
        number = attempt.turns.index(best)
        before = attempt.messages_until(number + 1)
        said = {"role": "assistant", "content": best.answer["text"]}
        rows.append(
            {
                "episode": attempt.start.get("episode"),
                "task": attempt.task,
                "group": (attempt.start.get("info") or {}).get("group"),
                "turn": number + 1,
                "messages": [*before, said],
                "reward": (best.result or {}).get("reward"),
                "speedup": best.speedup or None,
            }
        )
    return rows


def write_whole(path: Path, text: str) -> None:
    """Replaces a file at once, so that a reader never sees half of it."""
    partial = path.with_name(path.name + ".partial")
    with partial.open("w", encoding="utf-8", errors="replace") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)


def lines_of(rows: Iterable[Json]) -> str:
    """JSON Lines."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
