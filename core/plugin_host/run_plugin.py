"""Runs one plugin that is written in Python: loads its file and answers hone's calls on a socket until hone goes.

Started by hone-plugin-host with the socket as descriptor 3 and standard output and error as pipes into hone's log.
A message is 16 bytes (size, descriptors, magic) and JSON; docs/plugins.md says what a plugin's classes look like.
"""

import sys

if sys.version_info < (3, 10):  # noqa: UP036 - a user's interpreter may be any
    sys.stderr.write(f"found Python {sys.version.split()[0]}, expected 3.10 or newer\n")
    sys.exit(64)

import difflib
import hashlib
import json
import math
import numbers
import os
import re
import socket
import struct
import traceback
import types
from collections.abc import Callable
from typing import Any

PREFIX = struct.Struct("=QII")
MAGIC = 0x656E6F68
SOCKET = 3
MESSAGE_CHARACTERS_MAX = 480
# Codes of core/include/hone/abi.h.
INVALID_ARGUMENT, NOT_FOUND, RESOURCE_EXHAUSTED, DEADLINE_EXCEEDED, INTERNAL = 1, 2, 4, 5, 9
KINDS = {"reward": ("Reward", "score"), "dataset": ("Dataset", "list_tasks")}
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


def takes_config(cls: type) -> bool:
    """Whether a class has a constructor of its own: one without parameters needs none."""
    return any("__init__" in vars(base) for base in cls.__mro__ if base is not object)


def describe(cls: type, file: str) -> dict[str, Any]:
    """What `hone plugins` shows."""
    lines = (cls.__doc__ or "").strip().splitlines()
    low, high = getattr(cls, "range", None) or (None, None)
    return {
        "summary": lines[0] if lines else f"{cls.__name__} of {file}",
        "source": str(getattr(cls, "source", file)),
        "range": [low, high],
        "parameters": parameters_of(cls),
    }


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


def task_of(dataset: Any, task_id: str) -> Any:
    """One task; an id that is none is a NOT_FOUND."""
    try:
        task = dataset.get_task(task_id)
    except LookupError:
        ids = [entry["id"] for entry in entries_of(dataset.list_tasks())]
        if task_id in ids:
            raise
        raise Refusal(f"no task is called '{task_id}'{near(task_id, ids)}", NOT_FOUND) from None
    if task is None:
        raise Refusal(f"no task is called '{task_id}'", NOT_FOUND)
    return task


class Plugin:
    """One file, its classes, and the handles that hone made of them."""

    def __init__(self, path: str) -> None:
        self.path, self.file = path, os.path.basename(path)
        self.name = os.path.splitext(self.file)[0]
        self.handles: dict[int, Any] = {}
        self.classes: dict[str, type] = {}
        self.version = ""

    def load(self) -> None:
        """Runs the file. Whatever goes wrong in it is the caller's to tell."""
        if not re.fullmatch(r"[a-z0-9_]+", self.name):
            raise Refusal(f"{self.file}: the file's name is the plugin's: expected [a-z0-9_]+.py", INVALID_ARGUMENT)
        with open(self.path, "rb") as file:
            source = file.read()
        code = compile(source, self.path, "exec", dont_inherit=True)
        module = types.ModuleType(f"hone_plugin_{self.name}")
        module.__file__ = self.path
        sys.modules[module.__name__] = module
        # Modules beside the file can be imported; last, so that none of them hides one of Python's own.
        sys.path.append(os.path.dirname(self.path))
        exec(code, module.__dict__)
        for kind, (name, method) in KINDS.items():
            cls = getattr(module, name, None)
            if isinstance(cls, type):
                if not callable(getattr(cls, method, None)):
                    raise Refusal(f"{self.file}: class {name} has no method {method}()", INVALID_ARGUMENT)
                self.classes[kind] = cls
        if not self.classes:
            raise Refusal(f"{self.file}: found no class Reward or Dataset, expected one", INVALID_ARGUMENT)
        own = str(getattr(next(iter(self.classes.values())), "version", "0"))
        self.version = f"{own}+{hashlib.sha256(source).hexdigest()[:12]}"

    def hello(self, request: dict[str, Any]) -> Any:
        """Who this is. Descriptions are made once, so that a mistake in one is found at the start."""
        for cls in self.classes.values():
            describe(cls, self.file)
        python = ".".join(map(str, sys.version_info[:3]))
        return {"name": self.name, "version": self.version, "kinds": list(self.classes), "runs_in": f"Python {python}"}

    def class_of(self, request: dict[str, Any]) -> type:
        kind = request["kind"]
        if kind not in self.classes:
            raise Refusal(f"{self.file}: has no class {KINDS[kind][0]}", NOT_FOUND)
        return self.classes[kind]

    def describe(self, request: dict[str, Any]) -> Any:
        return describe(self.class_of(request), self.file)

    def create(self, request: dict[str, Any]) -> Any:
        cls = self.class_of(request)
        config = read_config(cls, request["argument"])
        try:
            made = cls(config) if takes_config(cls) else cls()
        except ValueError as error:  # the author's way to refuse a configuration
            raise Refusal(self.place(error), INVALID_ARGUMENT) from error
        self.handles[request["handle"]] = made
        return None

    def destroy(self, request: dict[str, Any]) -> Any:
        self.handles.pop(request["handle"], None)

    def score(self, request: dict[str, Any]) -> Any:
        reward, episode = self.handles[request["handle"]], request["argument"]
        return report_of(reward, episode, reward.score(episode))

    def list(self, request: dict[str, Any]) -> Any:
        return entries_of(self.handles[request["handle"]].list_tasks())

    def get(self, request: dict[str, Any]) -> Any:
        return task_of(self.handles[request["handle"]], request["argument"])

    def place(self, error: BaseException) -> str:
        """ "my_reward.py:12: ZeroDivisionError: division by zero"; of an error for users its text."""
        try:
            said = str(error)
        except Exception:
            said = "an error whose text cannot be made"
        if for_users(error):
            return said
        if isinstance(error, SyntaxError) and error.filename == self.path:
            return f"{self.file}:{error.lineno}: {type(error).__name__}: {error.msg}"
        frames = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in frames if frame.filename == self.path]
        foreign = [frame for frame in frames if frame.filename != __file__]
        where = f"{self.file}: "
        for frame in (own or foreign)[-1:]:
            where = f"{os.path.basename(frame.filename)}:{frame.lineno}: "
        return f"{where}{type(error).__name__}" + (f": {said}" if said else "")


def for_users(error: BaseException) -> bool:
    """Whether an error is no fault of the plugin: its text is for whoever uses it, and needs no place."""
    return getattr(type(error), "for_users", False) is True


def failure(plugin: Plugin, call: str, error: BaseException) -> dict[str, Any]:
    """The answer that is an error; what the plugin did not say itself is told to the log as well."""
    who = "" if call == "hello" else f"{plugin.name}: {call}: "
    if isinstance(error, Refusal):
        return {"error": {"code": error.code, "message": cut(who + str(error))}}
    if for_users(error):
        code = DEADLINE_EXCEEDED if isinstance(error, TimeoutError) else INVALID_ARGUMENT
        return {"error": {"code": code, "message": cut(who + plugin.place(error))}}
    if isinstance(error, MemoryError):
        return {"error": {"code": RESOURCE_EXHAUSTED, "message": cut(who + plugin.place(error))}}
    try:
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
            trace = trace.tb_next
        traceback.print_exception(type(error), error, trace)
    except Exception:
        sys.stderr.write("an exception whose traceback cannot be printed\n")
    code = INVALID_ARGUMENT if call == "hello" else INTERNAL
    return {"error": {"code": code, "message": cut(who + plugin.place(error))}}


def encode(answer: dict[str, Any], bytes_max: int) -> bytes:
    """JSON that hone reads: finite, valid UTF-8, and not too long."""

    def convert(value: Any) -> Any:
        if hasattr(value, "tolist"):  # numpy's arrays and scalars
            return value.tolist()
        raise Refusal(f"the answer holds a {kind_of(value)}, expected plain data")

    try:
        text = json.dumps(answer, allow_nan=False, ensure_ascii=False, default=convert, separators=(",", ":"))
        body = text.encode()
    except ValueError as error:
        raise Refusal(f"the answer cannot be sent: {error}") from None
    if len(body) > bytes_max:
        raise Refusal(f"the answer has {len(body)} bytes, at most {bytes_max} are allowed")
    return body


def answer(plugin: Plugin, request: dict[str, Any]) -> bytes:
    """Runs one call. Nothing that the plugin raises gets past here, sys.exit() included."""
    name = request["call"]
    try:
        if name == "hello":
            plugin.load()
        call: Callable[[dict[str, Any]], Any] = getattr(plugin, "create" if name == "open" else name)
        return encode({"value": call(request)}, request["bytes_max"])
    except BaseException as error:
        said = failure(plugin, name, error)
    return json.dumps(said, allow_nan=False).encode()


def receive(connection: socket.socket, size: int) -> bytearray:
    """So many bytes; the process ends when hone has gone."""
    found = bytearray(size)
    view = memoryview(found)
    while view:
        got = connection.recv_into(view)
        if got == 0:
            os._exit(0)
        view = view[got:]
    return found


def serve(connection: socket.socket, plugin: Plugin) -> None:
    """Answers one call after another, for ever."""
    while True:
        size, _, magic = PREFIX.unpack(receive(connection, PREFIX.size))
        if magic != MAGIC:
            os._exit(65)
        body = answer(plugin, json.loads(receive(connection, size)))
        connection.sendall(PREFIX.pack(len(body), 0, MAGIC))
        connection.sendall(body)


if __name__ == "__main__":
    del sys.path[0]  # the folder of this file is no place for a plugin's imports
    served = socket.socket(fileno=SOCKET)
    served.set_inheritable(False)
    try:
        serve(served, Plugin(sys.argv[1]))
    except OSError as lost:  # hone has gone, or the plugin has closed the descriptor
        sys.stderr.write(f"the connection to hone is lost: {lost}\n")
        os._exit(66)
