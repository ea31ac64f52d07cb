"""The reference of a task in its process: makes inputs, computes exact answers, and reports the error of its own.

This is trusted code: no part of a submission is ever in this process.
"""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
import math
import random
from collections.abc import Callable, Iterator
from typing import Any

import torch

try:
    import numpy
except ImportError:  # torch works without it
    numpy = None  # type: ignore[assignment]

from module_artifact import DTYPES, Artifact, Binding, Places, Spec, as_it_is
from module_baseline import placed
from module_phrases import may_lack_memory
from module_place import ARENA, PLACE
from module_precision import (
    Shortened,
    computes_the_same,
    differs_in_kind,
    error_of,
    rounded,
)
from module_shortcuts import all_shortcuts
from module_structure import FULL, MIDDLE, MILD, NONE, Structure
from module_tf32 import strict
from module_values import Variation, constructor_arguments, count, flat, is_varied, mix_and_scale, on_device

# The entries of a reference.
INPUTS = "inputs"  # makes inputs as get_inputs() does
VARIED = "varied"  # makes varied inputs
KNOWN_LEVEL = "varied_"  # makes varied inputs with a level that another process found; the level follows
EXACT = "exact"  # computes exact answers
OWN = "own"  # computes its own answers, as doubles
REFERENCE = "reference"  # computes its own answers, in its own types
STRICT = "strict"  # computes its own answers, without TF32
ERROR = "error"  # reports the error of its own answers
SHORTCUTS = "shortcuts"  # reports the error of answers that take less work
# For tests that switch this defence off: inputs without structure, and buffers as the constructor made them.
PLAIN = {"plain_inputs": INPUTS, "plain_varied": VARIED}
TRIAL_SEED = 1  # of the inputs that decide the level of structure: the same in every process
# Errors that need no lower level of structure, by type: LEAST in the dataset's task.py. A larger error is compared with
# the error without structure.
CALM = {torch.float32: 1e-5, torch.float64: 1e-10, torch.float16: 1e-3, torch.bfloat16: 8e-3}
CALM_TIMES = 4  # allowed error, relative to the error without structure
# Most bytes of calls whose inputs are made together: of inputs, parameters, outputs, and tensors from get_inputs(). A
# single call may have more. memory_budget.cpp counts four times this.
TOGETHER_BYTES = 64 << 20
DOUBLE_SHARE = 8  # a call is computed in double if it holds at most 1/8 of the device's memory (see layout.cpp)


def changes_inputs(values: list[Spec]) -> bool:
    """Whether forward() works in place on one of these inputs or parameters of module.json."""
    return any(value.get("may_change") or changes_inputs(value.get("list", [])) for value in values)


def together(to: torch.Tensor, values: list[torch.Tensor]) -> torch.Tensor:
    """The values of all calls as one tensor with the type and shape of `to`. May copy them to `to`, and return that."""
    one = to[0]
    if any((v.dtype, v.device, v.shape) != (one.dtype, one.device, one.shape) for v in values):
        for place, value in zip(to, values, strict=True):
            place.copy_(value)
        return to
    if len(values) == 1 and not values[0].is_contiguous():
        return to.copy_(values[0].unsqueeze(0))
    return as_one(values)


def as_one(values: list[torch.Tensor]) -> torch.Tensor:
    """One tensor with an axis for the calls, from a tensor of each call. A single one is not copied."""
    return torch.stack(values) if len(values) > 1 else values[0].unsqueeze(0)


def seed_from(seed: int, use: str) -> int:
    """A seed that is derived from `seed` for one use. Different uses get different seeds."""
    return int.from_bytes(hashlib.sha256(f"{seed} {use}".encode()).digest()[:8], "little")


def tensors_in(value: Any) -> list[torch.Tensor]:
    """The tensors in a result of get_inputs(), which may also have numbers, texts and None."""
    if isinstance(value, (list, tuple)):
        return [tensor for one in value for tensor in tensors_in(one)]
    return [value] if isinstance(value, torch.Tensor) else []


def root_mean_square(tensor: torch.Tensor) -> float:
    return float(tensor.float().square().mean().sqrt()) if tensor.numel() else 0.0


def instability(own: torch.Tensor, exact: torch.Tensor) -> float:
    """The error of an answer relative to the least tolerance of its type; infinite if values became NaN or infinity."""
    if not own.is_floating_point():
        return 0.0
    if not bool(own.isfinite().all()):
        return math.inf
    _, norm, _, wide_norm, share = error_of(own, exact)
    return math.inf if share else max(norm, wide_norm) / CALM.get(own.dtype, CALM[torch.float32])


def distances(before: Places, after: Places) -> Places:
    return {name: after[name] - before[name] for name in after}


@dataclasses.dataclass
class Calls:
    """Calls of a round whose inputs are made together. Places of a tensor are equally far apart."""

    places: list[Places]
    seeds: list[int]
    varied: bool
    is_plain: bool

    def add(self, places: Places, seed: int, most: int) -> bool:
        """Adds a call. False: there are `most` calls already, or its tensors do not continue the distances."""
        if len(self.places) >= most:
            return False
        steps = [distances(*pair) for pair in itertools.pairwise([*self.places[-2:], places])]
        if min(steps[0].values()) <= 0 or steps[-1] != steps[0]:
            return False
        self.places.append(places)
        self.seeds.append(seed)
        return True


class Reference(Artifact):
    """A loaded reference. `report`: the result of the last ERROR or SHORTCUTS entry, as JSON."""

    def load(self, support: dict[str, str]) -> None:
        self.module = self.run_source(self.name, self.source, "reference")
        self.given = constructor_arguments(self.module)
        in_place = changes_inputs([*self.meta["inputs"], *self.meta["parameters"]])
        # Parameters are the judge's: a forward that works in place gets copies.
        self.copy: Callable[[torch.Tensor], torch.Tensor] = torch.Tensor.clone if in_place else as_it_is
        self.double: tuple[Any, Binding] | bool | None = None  # the double form; False: there is none; None: not tried
        self.base: tuple[dict[str, Any], list[tuple[Spec, torch.Tensor]]] | None = None  # parameters as constructed
        self.varied: list[bool] | None = None  # whether each of the inputs' tensors is varied
        self.structures: list[Structure] | None = None  # of the varied tensors
        self.level: int | None = None  # of their structure; decided once
        self.known_level: int | None = None  # that another process has decided
        self.trusted_double = False  # the double form was compared with the strict one
        self.keeps_kind = False  # NaN and infinity of the reference's own form count as right
        self.report = ""
        self.together: int | None = None  # most calls whose inputs are made together; decided once
        self.waiting: list[Calls] = []  # make_waiting() makes their inputs after the last call
        self.shortcuts: Iterator[dict[str, Any]] | None = None  # those that are still to be reported

    def entry(self, name: str) -> Callable[[list[int]], None]:
        self.model = self.model or self.bind_model(self.factory(), self.meta["module"])
        if name.startswith(KNOWN_LEVEL):
            name, self.known_level = VARIED, int(name.removeprefix(KNOWN_LEVEL))
        if name in (INPUTS, VARIED, *PLAIN):
            is_plain = name in PLAIN
            self.base = self.base or self.parameters_made(is_plain)
            varied = PLAIN.get(name, name) == VARIED
            return lambda values: self.wait(values, varied, is_plain)
        if name in (OWN, REFERENCE):
            return lambda values: self.run_own(values, name == OWN)
        if name == STRICT:
            return self.run_strict
        self.prepare_double()
        return {ERROR: self.run_error, SHORTCUTS: self.run_shortcuts}.get(name, self.run_exact)

    def factory(self) -> Any:
        return getattr(self.module, self.meta["module"])

    def prepare_double(self) -> None:
        if self.double is None:
            self.double = not self.is_too_large_for_double() and (self.double_form() or False)

    def parameters_made(self, is_plain: bool = False) -> tuple[dict[str, Any], list[tuple[Spec, torch.Tensor]]]:
        """The parameters as constructed: for each tensor of floats its values and how far a call may move each; and the
        other parameters. `is_plain`: buffers of zeros stay zeros."""
        floats: dict[str, list[tuple[Spec, torch.Tensor]]] = {}
        others = []
        for mine, parameter in self.bound()[1].pairs:
            if mine.is_floating_point():
                floats.setdefault(parameter["tensor"], []).append((parameter, mine.detach().flatten()))
            else:
                others.append((parameter, mine.detach().clone()))
        return {name: self.packed(parts, is_plain) for name, parts in floats.items()}, others

    def packed(self, parts: list[tuple[Spec, torch.Tensor]], is_plain: bool) -> tuple[torch.Tensor, torch.Tensor]:
        size = max(parameter["at"] + made.numel() for parameter, made in parts)
        base = torch.zeros(size, dtype=parts[0][1].dtype, device=PLACE.device)
        spread = torch.zeros_like(base)
        for parameter, made in parts:
            part = slice(parameter["at"], parameter["at"] + made.numel())
            base[part] = made
            # Also biases and running means of zero. A variance must stay positive.
            if parameter["kind"] == "parameter" or not (is_plain or made.any()):
                spread[part] = 0.1 * (root_mean_square(made) or 0.5)
        return base, spread

    def double_form(self) -> tuple[Any, Binding] | None:
        """The reference in double, or None if it has no such form."""
        factory = self.factory()
        try:
            return self.bind_model(lambda *a, **k: factory(*a, **k).double(), self.meta["module"])
        except Exception as error:
            if may_lack_memory(error):
                raise  # precision must not change for good
            return None

    def run_exact(self, values: list[int]) -> None:
        places, seed = self.at(values)
        self.write(places, self.exact_answers(places, seed), as_double=True)

    def exact_answers(self, places: Places, seed: int) -> list[torch.Tensor]:
        """Answers in double, or, if that form computes something else, in the reference's own types without TF32."""
        if isinstance(self.double, tuple):
            try:
                wide = self.in_double(self.double, places, seed)
                if wide is not None:
                    return wide
            except RuntimeError as error:
                if may_lack_memory(error):
                    raise
            finally:
                self.give_back()
            # It mixes dtypes, or draws random numbers, which differ in double: use its own precision.
            self.double = False
        with strict():
            return self.in_own_precision(places, seed)

    def is_too_large_for_double(self) -> bool:
        """Rationale: copies of inputs and outputs in double must leave room for other processes on the device."""
        most = PLACE.memory_total() // DOUBLE_SHARE
        parameters = sum(count(p["shape"]) * DTYPES[p["dtype"]].itemsize for p in self.meta["parameters"])
        return 0 < most < self.bytes_of_call() + 2 * int(parameters)

    def in_double(self, form: tuple[Any, Binding], places: Places, seed: int) -> list[torch.Tensor] | None:
        """The double form's answers, or None if they are not the strict form's. The first call compares them."""

        def widen(tensor: torch.Tensor) -> torch.Tensor:  # a copy: the module may write to it
            return tensor.to(torch.float64, copy=True) if tensor.is_floating_point() else tensor.clone()

        torch.set_default_dtype(torch.float64)
        try:
            self.set_parameters(places, form[1], widen)
            PLACE.seed(seed)
            wide = flat(form[0](*self.inputs(places, widen)))
        finally:
            torch.set_default_dtype(torch.float32)
        if self.trusted_double and not self.keeps_kind:
            return wide
        with strict():
            own = self.in_own_precision(places, seed)
        if not self.trusted_double:
            if not all(map(computes_the_same, own, wide)):
                return None
            self.trusted_double = True
            self.keeps_kind = any(map(differs_in_kind, own, wide))
        if self.keeps_kind:
            for mine, right in zip(own, wide, strict=True):
                if mine.is_floating_point():
                    right.copy_(torch.where(mine.isfinite(), right, mine))
        return wide

    def in_own_precision(self, places: Places, seed: int, other: Any = None) -> list[torch.Tensor]:
        """The answers of the reference, or of another model with its parameters.

        A model may write to its inputs, so it gets copies; of large inputs only if it does.
        """
        model, binding = self.bound()
        self.set_parameters(places, binding, self.copy)
        PLACE.seed(seed)
        copy = self.copy if self.is_too_large_for_double() else torch.Tensor.clone
        return flat((model if other is None else other)(*self.inputs(places, copy)))

    def bound(self) -> tuple[Any, Binding]:
        """The model and its parameters. entry() makes them."""
        assert self.model is not None
        return self.model

    def precision(self) -> dict[str, Any]:
        """The precision that the task allows here: the processor has no TF32."""
        given: dict[str, Any] = self.meta.get("precision", {})
        return given if PLACE.device.type != "cpu" else {"compute": given.get("compute", "f32")}

    def run_own(self, values: list[int], as_double: bool) -> None:
        """Computes the answers in the precision that the reference is timed in."""
        places, seed = self.at(values)
        self.write(places, self.in_own_precision(places, seed), as_double)

    def run_strict(self, values: list[int]) -> None:
        """Computes the answers in the reference's own types, without TF32."""
        with strict():
            self.run_own(values, as_double=False)

    def run_error(self, values: list[int]) -> None:
        """Reports the error of the reference's own answers, and of answers with the operands that the task's precision
        allows, whatever algorithm a library chose for the reference."""
        places, seed = self.at(values)
        before = PLACE.memory_used()
        own = self.in_own_precision(places, seed)
        most = PLACE.memory_most() - before
        exact = self.exact_answers(places, seed)
        found: list[dict[str, Any]] = [{"own": rounded(error_of(*pair))} for pair in zip(own, exact, strict=True)]
        del own
        with Shortened(self.precision()) as shortened:
            allowed = self.in_own_precision(places, seed) if shortened.operators else []
        if shortened.used:
            for output, mine, right in zip(found, allowed, exact, strict=True):
                output["allowed"] = rounded(error_of(mine, right))
        report = {"outputs": found, "in_double": bool(self.double), "memory_bytes": max(0, most)}
        if self.level is not None:
            report["structure"] = self.level
        self.report = json.dumps(report, separators=(",", ":"))
        del allowed, exact
        self.give_back()

    def run_shortcuts(self, values: list[int]) -> None:
        """Reports the error of the next answer that takes less work than the reference, or computes it another way."""
        places, seed = self.at(values)
        if self.shortcuts is None:
            self.shortcuts = all_shortcuts(self, places, seed)
        report = next(self.shortcuts, None)
        if report is None:
            self.shortcuts = None
            self.give_back()
        self.report = json.dumps(report or {"answer": ""}, separators=(",", ":"))

    def answers_to_others(self, places: Places, seed: int) -> list[torch.Tensor]:
        """The reference's answers to other inputs of the same kind."""
        given = self.given_inputs(seed ^ 1)
        model, binding = self.bound()
        self.set_parameters(places, binding, self.copy)
        return flat(model(*placed(given)))

    def wait(self, values: list[int], varied: bool, is_plain: bool) -> None:
        """Notes a call for make_waiting(), together with the calls before it if possible."""
        places, seed = self.at(values)
        last = self.waiting[-1] if self.waiting else None
        if self.together is None:
            self.together = self.most_together()
        if (
            last is None
            or (last.varied, last.is_plain) != (varied, is_plain)
            or not last.add(places, seed, self.together)
        ):
            self.waiting.append(Calls([places], [seed], varied, is_plain))

    def most_together(self) -> int:
        """The most calls whose inputs are made together, by TOGETHER_BYTES.

        1 if get_inputs() returns the same tensors each time and changes their values: a later call would overwrite the
        values of an earlier one.
        """
        of_call = max(1, self.bytes_of_call())
        if TOGETHER_BYTES // of_call < 2:
            return 1
        first = tensors_in(self.given_inputs(TRIAL_SEED))
        versions = [one._version for one in first]
        second = {one.untyped_storage().data_ptr() for one in tensors_in(self.given_inputs(TRIAL_SEED)) if one.numel()}
        for one, version in zip(first, versions, strict=True):
            # numpy and others can write to a tensor on the processor without a change of its version.
            is_kept = one.numel() > 0 and one.untyped_storage().data_ptr() in second
            if is_kept and (one._version != version or one.device.type == "cpu"):
                return 1
        made_from = sum(max(one.untyped_storage().nbytes(), 4 * one.numel()) for one in first)
        return max(1, TOGETHER_BYTES // int(of_call + made_from))

    def given_inputs(self, seed: int) -> Any:
        """The result of get_inputs() for this seed."""
        PLACE.seed(seed)
        random.seed(seed)
        if numpy is not None:
            numpy.random.seed(seed % (1 << 32))
        with PLACE.device:
            return self.module.get_inputs()

    def make_waiting(self) -> None:
        """Makes the inputs and parameters of all calls of the round. Each call has its own.

        The inputs are the reference's own, or varied ones with structure. Parameters are near the constructor's.
        """
        waiting, self.waiting = self.waiting, []
        for calls in waiting:
            level = self.level_for(calls.places[0]) if calls.varied and not calls.is_plain else NONE
            self.fill(calls.places, calls.seeds, calls.varied, level)

    def level_for(self, places: Places) -> int:
        """The level of structure of varied inputs."""
        if self.level is None and self.known_level is not None:
            self.level = self.known_level
            # Decides by the same inputs as level_that_fits() which tensors are varied, and along which axes.
            self.fill([places], [TRIAL_SEED], True, self.level)
        if self.level is None:
            self.level = self.level_that_fits(places)
        return self.level

    def level_that_fits(self, places: Places) -> int:
        """The highest level of structure with which the reference's answers are finite and about as exact as without.

        Rationale: biases do not shrink, so with them a quiet part is nearly constant. Its normalisation magnifies
        rounding, in an honest submission more than in the reference. So no task with parameters has a quiet part.
        """
        without = None
        for level in (MIDDLE, MILD) if self.meta["parameters"] else (FULL, MIDDLE, MILD):
            found = self.instability_at(places, level)
            if found <= 1:
                return level
            without = self.instability_at(places, NONE) if without is None else without
            if found <= CALM_TIMES * without:
                return level
        return NONE

    def instability_at(self, places: Places, level: int) -> float:
        self.fill([places], [TRIAL_SEED], True, level)
        if not self.structures:
            return 0.0  # nothing is varied, so all levels are the same
        self.prepare_double()
        kept = self.double, self.trusted_double, self.keeps_kind  # only real inputs may change these
        try:
            own = self.in_own_precision(places, TRIAL_SEED)
            exact = self.exact_answers(places, TRIAL_SEED)
            if kept[0] and not self.double:
                return math.inf  # the double form computes something else
            return max((instability(*pair) for pair in zip(own, exact, strict=True)), default=0.0)
        except Exception as error:
            if may_lack_memory(error):
                raise
            return math.inf
        finally:
            self.double, self.trusted_double, self.keeps_kind = kept
            self.give_back()

    def put_varied(self, made: list[tuple[torch.Tensor, torch.Tensor]], seeds: list[int], level: int) -> None:
        """Writes the values to their places. Tensors that may be varied get structure, and are scaled and mixed."""
        if self.varied is None:
            self.varied = [is_varied(values[0]) for _, values in made]
        floats = [to for (to, _), is_so in zip(made, self.varied, strict=True) if is_so]
        values = [values for (_, values), is_so in zip(made, self.varied, strict=True) if is_so]
        for (to, other), is_so in zip(made, self.varied, strict=True):
            if not is_so:
                to.copy_(other)
        made.clear()
        if self.structures is None:
            self.structures = [Structure(value[0]) for value in values]
        if not floats:
            return
        amounts, levels, numbers = [], [], []
        for seed in seeds:
            PLACE.seed(seed_from(seed, "structure"))
            amounts.append(Variation([to.shape[1:] for to in floats]))
            levels.append([structure.levels(level) for structure in self.structures])
            numbers.append([structure.random(level, PLACE.device) for structure in self.structures])
        scales_of = list(zip(*(one.scales for one in amounts), strict=True))
        weights_of = list(zip(*(one.weights for one in amounts), strict=True))
        *tables, scales, weights = on_device(
            [*(list(rows) for rows in zip(*levels, strict=True)), scales_of, weights_of], PLACE.device
        )
        first_scales = torch.ones_like(scales) if weights_of else scales
        for i, structure in enumerate(self.structures):
            structure.put(floats[i], values[i], level, tables[i], first_scales[i], [one[i] for one in numbers])
        values.clear()
        if weights_of:
            mix_and_scale(floats, weights, scales)

    def fill(self, calls: list[Places], seeds: list[int], varied: bool, level: int) -> None:
        """Makes the inputs and parameters of these calls. `seeds`: one for each call.

        All random numbers of a call follow from its own seed. Rationale: a submission sees the inputs of earlier calls
        and can find their seed, so no other call's inputs may follow from it.

        Rationale: a small operation takes longer to start than to run, and every timed call needs inputs. So
        get_inputs() and random numbers need operations for each call, but most other operations serve all calls.
        """
        made: list[tuple[torch.Tensor, torch.Tensor]] = []  # each tensor's places and values

        def add(spec: Spec, values: list[Any]) -> None:
            if "tensor" in spec:
                to = self.tensor_of_calls(calls, spec)
                made.append((to, together(to, [torch.as_tensor(value) for value in values])))
            elif "list" in spec:
                for one, *inner in zip(spec["list"], *values, strict=True):
                    add(one, inner)

        given = [self.given_inputs(seed) for seed in seeds]
        for spec, *values in zip(self.meta["inputs"], *given, strict=True):
            add(spec, values)
        del given
        if varied:
            self.put_varied(made, seeds, level)
        else:
            for to, values in made:
                to.copy_(values)
        made.clear()
        self.give_back()
        assert self.base is not None
        parameters, others = self.base
        if parameters:
            self.put_parameters(parameters, calls, seeds)
        for parameter, base in others:
            self.tensor_of_calls(calls, parameter).copy_(base)

    def put_parameters(
        self, parameters: dict[str, tuple[torch.Tensor, torch.Tensor]], calls: list[Places], seeds: list[int]
    ) -> None:
        """Writes the floating-point parameters: values near the constructor's, different for each call."""
        places = {
            name: ARENA.views_at([place[name] for place in calls], base.dtype, list(base.shape))
            for name, (base, _) in parameters.items()
        }
        noise: dict[str, list[torch.Tensor]] = {name: [] for name in parameters}
        for call, seed in enumerate(seeds):
            PLACE.seed(seed_from(seed, "parameters"))  # also if get_inputs() has set a seed
            for name, (base, _) in parameters.items():
                places[name][call].uniform_(0.9, 1.1)
                noise[name].append(torch.randn_like(base))
        for name, (base, spread) in parameters.items():
            places[name].mul_(base).addcmul_(as_one(noise.pop(name)), spread)

    def tensor_of_calls(self, calls: list[Places], spec: Spec) -> torch.Tensor:
        """A tensor of all these calls. Its first axis is the axis of the calls."""
        dtype = DTYPES[spec["dtype"]]
        at = spec.get("at", 0) * dtype.itemsize
        return ARENA.views_at([places[spec["tensor"]] + at for places in calls], dtype, spec["shape"])
