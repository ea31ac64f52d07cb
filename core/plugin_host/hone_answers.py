"""Checks what a plugin in Python gets and returns: configurations, reports of rewards, lists of tasks, observations."""

import difflib
import json
import math
import numbers
from typing import Any

MESSAGE_CHARACTERS_MAX = 480
# Codes of core/include/hone/abi.h.
INVALID_ARGUMENT, NOT_FOUND, RESOURCE_EXHAUSTED, DEADLINE_EXCEEDED, INTERNAL = 1, 2, 4, 5, 9
# Causes (core/base/error_cause.hpp) that a plugin may name.
CAUSES = ("unfit_task",)
TYPES: dict[str, type] = {"float": float, "int": int, "bool": bool, "str": str, "map": dict}
WANTED = {"float": "a number", "int": "an integer", "bool": "true or false", "str": "a text", "map": "a map"}


class Refusal(Exception):
    """An answer that is an error: found and expected, with a code of the ABI."""

    def __init__(self, message: str, code: int = INTERNAL) -> None:
        super().__init__(message)
        self.code = code


def cut(text: str) -> str:
    """One line of bounded length."""
    line = " ".join(text.split())
    return line if len(line) <= MESSAGE_CHARACTERS_MAX else line[: MESSAGE_CHARACTERS_MAX - 1] + "…"


def near(name: str, names: list[str]) -> str:
    """What may have been meant: "; did you mean 'x'?", or what there is."""
    found = difflib.get_close_matches(name, names, 1)
    if found:
        return f"; did you mean '{found[0]}'?"
    return f"; valid: {', '.join(names)}" if names else "; there is none"


def kind_of(value: Any) -> str:
    """A value's type as an author of Python knows it."""
    return "None" if value is None else type(value).__name__


def number(value: Any, place: str) -> float:
    """A finite float from anything that is a real number, numpy's included."""
    if isinstance(value, numbers.Real) or (hasattr(value, "__float__") and not isinstance(value, str)):
        found = float(value)
        if math.isfinite(found):
            return found
        raise Refusal(f"{place}: expected a finite number, found {found}")
    raise Refusal(f"{place}: expected a number, found {kind_of(value)}")


def parameters_of(cls: type) -> dict[str, dict[str, Any]]:
    """The class attribute `parameters` in full: name → type, default, doc, range, choices."""
    full = {}
    for name, given in dict(getattr(cls, "parameters", {})).items():
        spec = dict(given) if isinstance(given, dict) else {"default": given}
        default = spec.get("default")
        guess = next((word for word in ("bool", "int", "float", "str", "map") if type(default) is TYPES[word]), None)
        kind = spec.get("type", guess)
        if kind not in TYPES:
            raise Refusal(f"parameters: {name}: expected a default or a type of float, int, bool, str, map")
        full[name] = {"doc": "", **spec, "type": kind, "default": default}
    return full


def check_value(name: str, value: Any, spec: dict[str, Any]) -> Any:
    """A configuration's value as its parameter wants it."""
    where, kind = f"config: {name}", spec["type"]
    if kind == "float" and type(value) is int:
        value = float(value)
    if type(value) is not TYPES[kind]:
        raise Refusal(f"{where}: expected {WANTED[kind]}, found {kind_of(value)}", INVALID_ARGUMENT)
    low, high = spec.get("range") or (None, None)
    if (low is not None and not value >= low) or (high is not None and not value <= high):
        raise Refusal(f"{where}: expected {low} to {high}, found {value}", INVALID_ARGUMENT)
    choices = spec.get("choices")
    if choices and value not in choices:
        raise Refusal(f"{where}: found '{value}'{near(str(value), choices)}", INVALID_ARGUMENT)
    return value


def read_config(cls: type, given: Any) -> dict[str, Any]:
    """The configuration with its defaults; a mistake in it is a Refusal."""
    if not isinstance(given, dict):
        raise Refusal(f"config: expected a map, found {kind_of(given)}", INVALID_ARGUMENT)
    parameters = parameters_of(cls)
    for key in given:
        if key not in parameters:
            raise Refusal(f"config: unknown key '{key}'{near(key, list(parameters))}", INVALID_ARGUMENT)
    config = {}
    for name, spec in parameters.items():
        if name not in given and spec["default"] is None:
            raise Refusal(f"config: {name}: expected a {spec['type']}, found nothing", INVALID_ARGUMENT)
        config[name] = check_value(name, given[name], spec) if name in given else spec["default"]
    return config


def turn_reward(given: Any, scored: bool, place: str) -> dict[str, Any] | None:
    """One turn of a score: a number, {"reward": …, "components": {…}}, or None for an unscored turn."""
    if not scored:
        if given is not None:
            raise Refusal(f"{place}: expected None for an unscored turn, found {kind_of(given)}")
        return None
    if not isinstance(given, dict):
        return {"reward": number(given, place), "components": {}}
    for key in given:
        if key not in ("reward", "components"):
            raise Refusal(f"{place}: unknown key '{key}'{near(str(key), ['reward', 'components'])}")
    components = given.get("components", {})
    if not isinstance(components, dict):
        raise Refusal(f"{place}/components: expected a dict, found {kind_of(components)}")
    parts = {str(name): number(part, f"{place}/components/{name}") for name, part in components.items()}
    return {"reward": number(given.get("reward"), f"{place}/reward"), "components": parts}


def discounted(rewards: list[float], gamma: float) -> float:
    """The sum of gamma^t r_t."""
    total = 0.0
    for reward in reversed(rewards):
        total = reward + gamma * total
    return total


def report_of(reward: Any, episode: dict[str, Any], answer: Any) -> dict[str, Any]:
    """hone's report from what score() gave: a list for the turns, or the whole report as a dict."""
    if isinstance(answer, dict):
        return answer
    if hasattr(answer, "tolist"):
        answer = answer.tolist()
    turns = episode["turns"]
    if not isinstance(answer, list | tuple):
        raise Refusal(f"expected a list of {len(turns)}, one for each turn, found {kind_of(answer)}")
    if len(answer) != len(turns):
        raise Refusal(f"expected a list of {len(turns)}, one for each turn, found one of {len(answer)}")
    full = [
        turn_reward(given, bool(turn["scored"]), f"turns/{i}")
        for i, (given, turn) in enumerate(zip(answer, turns, strict=True))
    ]
    gamma = number(getattr(reward, "gamma", 1.0), "gamma")
    rule = getattr(reward, "returns", "sum")
    if rule not in ("sum", "forward"):
        raise Refusal(f"returns: found {rule!r}, expected 'sum' or 'forward'")
    rewards = [turn["reward"] for turn in full if turn is not None]
    to_date, done = discounted(rewards, gamma), 0
    returns: list[float | None] = []
    for turn in full:
        if turn is None:
            returns.append(None)
            continue
        returns.append(to_date if rule == "sum" else discounted(rewards[done:], gamma))
        done += 1
    return {"turns": full, "return": to_date, "returns": returns}


def entries_of(listed: Any) -> list[dict[str, Any]]:
    """What list() writes; an id alone stands for a task of split train on the CPU."""
    entries = []
    for i, item in enumerate(listed):
        entry = {"id": item} if isinstance(item, str) else item
        if not isinstance(entry, dict) or not isinstance(entry.get("id"), str):
            raise Refusal(f"list_tasks/{i}: expected an id or a dict with one, found {kind_of(item)}")
        entries.append({"title": entry["id"], "split": "train", "tags": [], "backends": ["cpu"], **entry})
    return entries


def describe_environment(cls: type) -> dict[str, Any]:
    """An environment's part of `describe`: its actions, the tags of its tasks, and whatever else a policy must know."""
    tags, about = getattr(cls, "tags", ()), getattr(cls, "about", {})
    if isinstance(tags, str) or not all(isinstance(tag, str) for tag in tags):
        raise Refusal("tags: expected a list of texts", INVALID_ARGUMENT)
    if not isinstance(about, dict):
        raise Refusal(f"about: expected a dict, found {kind_of(about)}", INVALID_ARGUMENT)
    return {"tags": list(tags), "actions": list(getattr(cls, "actions", [])), "about": about}


def observation_of(seen: Any, action: dict[str, Any] | None) -> dict[str, Any]:
    """An observation: a text for the model, or a dict with messages, feedback and more. `action`: None at the start."""
    if isinstance(seen, str):
        seen = {"feedback": seen}
    if not isinstance(seen, dict):
        raise Refusal(f"expected a text or a dict, found {kind_of(seen)}")
    words = seen.get("feedback", "")
    if not isinstance(words, str):
        raise Refusal(f"feedback: expected a text, found {kind_of(words)}")
    messages = seen.get("messages")
    if messages is None:
        said = action and (action.get("response") or action.get("code") or json.dumps(action))
        messages = [{"role": "assistant", "content": said}] if said else []
        messages.append({"role": "user", "content": words})
    for i, message in enumerate(messages):
        if not isinstance(message, dict) or not all(isinstance(message.get(k), str) for k in ("role", "content")):
            raise Refusal(f"messages/{i}: expected a dict with role and content")
    return {**seen, "messages": messages, "feedback": words if action is not None else ""}


def prepared_of(made: Any) -> dict[str, Any]:
    """The result of prepare(): {"source", "language"}, or {"outcome": "no_code" or "rejected", "reason"}."""
    if isinstance(made, str):
        made = {"source": made}
    if not isinstance(made, dict):
        raise Refusal(f"expected a source or a dict, found {kind_of(made)}")
    known = ("source", "language") if "source" in made else ("outcome", "reason")
    for key, text in made.items():
        if key not in known:
            raise Refusal(f"unknown key '{key}'{near(str(key), list(known))}")
        if not isinstance(text, str):
            raise Refusal(f"{key}: expected a text, found {kind_of(text)}")
    if "source" not in made and made.get("outcome") not in ("no_code", "rejected"):
        raise Refusal("expected 'source', or an 'outcome' of no_code or rejected with its 'reason'")
    return made
