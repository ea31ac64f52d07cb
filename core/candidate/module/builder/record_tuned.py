"""Records each configuration of a kernel with `triton.autotune`. The process that replays the plan chooses one.

An autotuner measures its configurations on the device, which a recording does not have. So this module replaces two
methods of Triton's Autotuner: the measurement only compiles the configurations, and a recorded call starts the kernel
once with each of them. The setup uses the first one that compiles.

No other work may depend on the choice. So one of the two recorded calls starts the configurations in reverse order. If
later work depends on the configuration that was started last, the calls differ, and the module has no plan. A module
that reads the choice has no plan, either.

These methods are internal to Triton. If a version of Triton lacks one of them, modules with an autotuner have no plan.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from module_phrases import place_and_reason

if TYPE_CHECKING:
    from recording_driver import RecordingDriver


VALUE_MAX = 40  # characters of a parameter's value
TEXT_MAX = 200  # characters of a text; a plan allows no more (kConfigurationBytesMax)


class KeyIsKnown(BaseException):
    """Ends an autotuner's call after the lookup of its configuration, before the kernel starts."""


class Configurations(dict[Any, Any]):
    """Replaces an autotuner's cache, which maps a key (for example sizes of arguments) to a configuration."""

    def __init__(self, known: dict[Any, Any]) -> None:
        super().__init__(known)
        self.usable: dict[Any, list[Any]] = {key: [value] for key, value in known.items()}
        self.compiled: list[Any] = []  # in this call
        self.failed: list[tuple[Any, str]] = []  # configuration and reason; in this call
        self.left_out: dict[Any, list[tuple[Any, str]]] = {}
        self.key: Any = None  # the last one that was looked up
        self.ends_call = False  # a lookup raises KeyIsKnown
        self.chosen: Any = None  # the result of the next lookups; None: the stored one

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, value)
        self.usable[key] = self.compiled or [value]
        self.left_out[key] = self.failed

    def __getitem__(self, key: Any) -> Any:
        self.key = key
        if self.ends_call:
            raise KeyIsKnown
        return super().__getitem__(key) if self.chosen is None else self.chosen


def printable(text: str) -> str:
    """Makes a text valid in a plan: replaces characters that are not printable ASCII, and cuts it at TEXT_MAX."""
    shown = "".join(c if " " <= c <= "~" else "?" for c in text)
    return shown if len(shown) <= TEXT_MAX else shown[: TEXT_MAX - 3] + "..."


def parameters(config: Any) -> str:
    """The parameters of a configuration as text, without `num_ctas` if it is 1: "BLOCK: 128, num_warps: 4"."""
    shown = {name: value for name, value in config.all_kwargs().items() if (name, value) != ("num_ctas", 1)}
    return texts(shown)


def value_text(value: Any) -> str:
    """Returns the text of a number or string, the name of a named object such as a dtype, or else the type."""
    if isinstance(value, (bool, int, float, str, type(None))):
        text = str(value)
    else:
        name = getattr(value, "__name__", None) or getattr(value, "name", None)
        text = name if isinstance(name, str) else type(value).__name__
    return text if len(text) <= VALUE_MAX else text[: VALUE_MAX - 3] + "..."


def texts(values: dict[str, Any]) -> str:
    return printable(", ".join(f"{name}: {value_text(value)}" for name, value in values.items()))


def compile_and_load(tuner: Any, args: Any, config: Any, meta: dict[str, Any]) -> None:
    """Compiles and loads the kernel with a configuration. Raises the errors that Triton raises."""
    arguments = {**meta, **config.all_kwargs()}
    if config.pre_hook is not None:
        config.pre_hook({**tuner.nargs, **arguments})
    kernel = tuner.fn.run(*args, **{**arguments, "warmup": True})
    if hasattr(kernel, "_init_handles"):
        kernel._init_handles()


def refuse_to_tell(tuner_class: Any, name: str, driver: RecordingDriver) -> None:
    """Makes the recording incomplete if the module reads this attribute, which depends on the autotuner's choice."""

    def read(tuner: Any) -> Any:
        if any(len(usable) > 1 for usable in getattr(tuner.cache, "usable", {}).values()):
            driver.fail("reads the choice of an autotuner")
        if name not in tuner.__dict__:  # it has not run yet
            raise AttributeError(name)
        return tuner.__dict__[name]

    def write(tuner: Any, value: Any) -> None:
        tuner.__dict__[name] = value

    setattr(tuner_class, name, property(read, write))


class TunedKernels:
    """Replaces Triton's autotuner in this process. Each recorded call numbers its pairs of autotuner and key from 1."""

    def __init__(self, driver: RecordingDriver) -> None:
        self.driver = driver
        self.in_run = self.is_backwards = False
        self.numbers: dict[tuple[int, Any], int] = {}
        self.tuners: list[Any] = []  # keeps the numbered ones alive, so that no other one gets the same id

    @contextmanager
    def run(self, is_backwards: bool) -> Iterator[None]:
        """A recorded call of the module. `is_backwards`: configurations are started from the last to the first."""
        self.in_run, self.is_backwards = True, is_backwards
        self.numbers, self.tuners = {}, []
        try:
            yield
        finally:
            self.in_run = False

    def install(self) -> None:
        try:
            from triton.compiler.errors import CompileTimeAssertionFailure
            from triton.runtime.autotuner import Autotuner
            from triton.runtime.errors import OutOfResources, PTXASError

            self.original = Autotuner.run
            Autotuner._bench  # noqa: B018
        except (ImportError, AttributeError):
            return

        def run(tuner: Any, *args: Any, **kwargs: Any) -> Any:
            return self.start(tuner, args, kwargs)

        def bench(tuner: Any, *args: Any, config: Any, **meta: Any) -> list[float]:
            try:
                compile_and_load(tuner, args, config, meta)
            except (CompileTimeAssertionFailure, OutOfResources, PTXASError) as error:  # as in Triton
                reason = printable(f"{type(error).__name__}: {place_and_reason(error)}")
                tuner.cache.failed.append((config, reason))
                return [math.inf] * 3
            tuner.cache.compiled.append(config)
            return [1.0] * 3

        Autotuner.run, Autotuner._bench = run, bench
        for name in ("best_config", "configs_timings"):
            refuse_to_tell(Autotuner, name, self.driver)

    def start(self, tuner: Any, args: Any, kwargs: Any) -> Any:
        if not isinstance(tuner.cache, Configurations):
            tuner.cache = Configurations(tuner.cache)
            tuner.cache_results = False  # results on disk are those of the dry run, which measures nothing
        cache = tuner.cache
        cache.ends_call = self.in_run
        try:
            return self.original(tuner, *args, **kwargs)  # the setup, or a kernel with one configuration: no lookup
        except KeyIsKnown:
            pass
        finally:
            cache.ends_call = False
            cache.compiled, cache.failed = [], []  # a measurement may have ended by an exception
        return self.start_each(tuner, args, kwargs)

    def number_of(self, tuner: Any, given: set[str]) -> int:
        """Returns the number of the autotuner with its last key. Adds the pair to the recording if it is new."""
        cache = tuner.cache
        pair = id(tuner), cache.key
        if pair not in self.numbers:
            self.tuners.append(tuner)
            left_out = cache.left_out.get(cache.key, [])
            names = [name for name in tuner.keys if name in given]  # as in Triton
            key = cache.key if isinstance(cache.key, tuple) else ()
            self.numbers[pair] = self.driver.autotuned(
                {
                    "key": texts(dict(zip(names, key, strict=False))),
                    "configurations": [parameters(config) for config in cache.usable[cache.key]],
                    "left_out": [{"configuration": parameters(c), "reason": reason} for c, reason in left_out],
                }
            )
        return self.numbers[pair]

    def start_each(self, tuner: Any, args: Any, kwargs: Any) -> Any:
        """Starts the kernel with each configuration that can be used for the last key."""
        cache = tuner.cache
        usable = cache.usable[cache.key]
        if len(usable) < 2:
            return self.original(tuner, *args, **kwargs)
        number = self.number_of(tuner, {*tuner.arg_names[: len(args)], *kwargs})
        made = None
        try:
            for at in range(len(usable))[:: -1 if self.is_backwards else 1]:
                cache.chosen = usable[at]
                self.driver.configuration(number, at)
                made = self.original(tuner, *args, **kwargs)
        finally:
            cache.chosen = None
            self.driver.configuration(0, 0)
        return made
