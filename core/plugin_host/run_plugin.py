"""Runs one plugin that is written in Python: loads its file and answers hone's calls on a socket until hone goes.

Started by hone-plugin-host with the socket as descriptor 3 and standard output and error as pipes into hone's log.
A message is 16 bytes (size, descriptors, magic) and JSON; docs/plugins.md says what a plugin's classes look like.
"""

import sys

if sys.version_info < (3, 10):  # noqa: UP036 - a user's interpreter may be any
    sys.stderr.write(f"found Python {sys.version.split()[0]}, expected 3.10 or newer\n")
    sys.exit(64)

import hashlib
import json
import os
import re
import socket
import struct
import traceback
import types
from collections.abc import Callable
from typing import Any

sys.dont_write_bytecode, written = True, sys.dont_write_bytecode  # no cache file for hone_answers.py
FOLDER = os.path.dirname(os.path.abspath(__file__))
if FOLDER not in sys.path:  # "python -I" leaves out the folder of its script
    sys.path.insert(0, FOLDER)
import hone_answers  # noqa: E402
from hone_answers import (  # noqa: E402
    CAUSES,
    DEADLINE_EXCEEDED,
    INTERNAL,
    INVALID_ARGUMENT,
    NOT_FOUND,
    RESOURCE_EXHAUSTED,
    Refusal,
    cut,
    describe_environment,
    entries_of,
    kind_of,
    near,
    observation_of,
    parameters_of,
    prepared_of,
    read_config,
    report_of,
)

sys.dont_write_bytecode = written
OWN = (__file__, hone_answers.__file__)
PREFIX = struct.Struct("=QII")
MAGIC = 0x656E6F68
SOCKET = 3
KINDS = {
    "reward": ("Reward", ("score",)),
    "dataset": ("Dataset", ("list_tasks",)),
    "environment": ("Environment", ("start", "prepare", "observe")),
}
told: dict[Any, int] = {}  # number of errors that the plugin raised, by place


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
        # Modules in the file's folder can be imported; last in the path, so that none hides a module of Python.
        sys.path.append(os.path.dirname(self.path))
        exec(code, module.__dict__)
        for kind, (name, methods) in KINDS.items():
            cls = getattr(module, name, None)
            if isinstance(cls, type):
                for method in methods:
                    if not callable(getattr(cls, method, None)):
                        raise Refusal(f"{self.file}: class {name} has no method {method}()", INVALID_ARGUMENT)
                self.classes[kind] = cls
        if not self.classes:
            message = f"{self.file}: found no class Reward, Dataset or Environment, expected one"
            raise Refusal(message, INVALID_ARGUMENT)
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
        cls = self.class_of(request)
        own = describe_environment(cls) if request["kind"] == "environment" else {}
        return {**describe(cls, self.file), **own}

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

    def start(self, request: dict[str, Any]) -> Any:
        return observation_of(self.handles[request["handle"]].start(request["argument"]["episode"]), None)

    def prepare(self, request: dict[str, Any]) -> Any:
        given = request["argument"]
        try:
            return prepared_of(self.handles[request["handle"]].prepare(given["episode"], given["action"]))
        except ValueError as error:  # the author's way to refuse an action: the turn stays open
            raise Refusal(str(error) or self.place(error), INVALID_ARGUMENT) from error

    def observe(self, request: dict[str, Any]) -> Any:
        given = request["argument"]
        seen = self.handles[request["handle"]].observe(given["episode"], given["action"], given["result"])
        return observation_of(seen, given["action"])

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
        foreign = [frame for frame in frames if frame.filename not in OWN]
        where = f"{self.file}: "
        for frame in (own or foreign)[-1:]:
            where = f"{os.path.basename(frame.filename)}:{frame.lineno}: "
        return f"{where}{type(error).__name__}" + (f": {said}" if said else "")


def for_users(error: BaseException) -> bool:
    """Whether an error is no fault of the plugin: its text is for whoever uses it, and needs no place."""
    return getattr(type(error), "for_users", False) is True


def tell(error: BaseException) -> None:
    """Logs a traceback as warnings, once for each place; then only the count at 10, 100, 1000 …"""
    times = 1
    try:
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename in OWN:
            trace = trace.tb_next
        place = (type(error), *((frame.filename, frame.lineno) for frame in traceback.extract_tb(trace)))
        times = told[place] = told.get(place, 0) + 1
        text = "".join(traceback.format_exception(type(error), error, trace))
    except Exception:
        text = "an exception whose traceback cannot be printed\n"
    if times > 1:
        text = f"{type(error).__name__}: {times} times by now; its traceback is above\n"
    if str(times).strip("0") == "1":
        sys.stderr.write("".join("warning: " + line for line in text.splitlines(keepends=True)))


def failure(plugin: Plugin, call: str, error: BaseException) -> dict[str, Any]:
    """The answer that is an error; what the plugin did not say itself is told to the log as well."""
    who = "" if call == "hello" else f"{plugin.name}: {call}: "
    if isinstance(error, Refusal):
        return {"error": {"code": error.code, "message": cut(who + str(error))}}
    if for_users(error):
        code = DEADLINE_EXCEEDED if isinstance(error, TimeoutError) else INVALID_ARGUMENT
        cause = getattr(type(error), "cause", "")
        known = {"cause": cause} if cause in CAUSES else {}
        return {"error": {"code": code, "message": cut(who + plugin.place(error)), **known}}
    if isinstance(error, MemoryError):
        return {"error": {"code": RESOURCE_EXHAUSTED, "message": cut(who + plugin.place(error))}}
    tell(error)
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
        body = text.encode(errors="replace")  # half of a surrogate pair becomes a question mark
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
    """Receives `size` bytes; the process ends when hone has ended."""
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
