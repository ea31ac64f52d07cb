"""The reference of a task in its process: makes inputs, gives exact answers, and says how exact its own are.

Trusted code: nothing of a submission is ever in this process.
"""

import json
import math

import torch

from module_artifact import DTYPES, Artifact, as_it_is, run_source
from module_fastest import placed
from module_place import ARENA, PLACE
from module_precision import (
    Shortened,
    computes_the_same,
    differs_in_kind,
    error_of,
    rounded,
    strict,
)
from module_shortcuts import all_shortcuts
from module_structure import FULL, MIDDLE, MILD, NONE, Structure, structure_all
from module_values import constructor_arguments, count, flat, is_varied, vary

# Its forms: makes inputs as get_inputs() does, or varied ones; gives exact answers, its own answers as doubles, or in
# its own types, and those without TF32; says how far its own answers are from the exact ones, and how far those are
# that take less work.
INPUTS, VARIED, EXACT, OWN, REFERENCE, ERROR = "inputs", "varied", "exact", "own", "reference", "error"
SHORTCUTS, STRICT = "shortcuts", "strict"
# Inputs without structure and buffers as they were made: what tests use to switch that defence off.
PLAIN = {"plain_inputs": INPUTS, "plain_varied": VARIED}
TRIAL_SEED = 1  # of the inputs that decide how much structure a task gets: the same in every process
# Errors that are no reason for less structure, by type: the least tolerances, LEAST in the dataset's task.py. Larger
# ones are compared with the error without structure.
CALM = {torch.float32: 1e-5, torch.float64: 1e-10, torch.float16: 1e-3, torch.bfloat16: 8e-3}
CALM_TIMES = 4  # how many times that error is still no reason for less structure
DOUBLE_SHARE = 8  # of a device's memory that a call may hold to be computed in double (as in layout.cpp)


def changes_inputs(values):
    """Whether forward() works in place on one of these inputs or parameters of module.json."""
    return any(value.get("may_change") or changes_inputs(value.get("list", ())) for value in values)


def root_mean_square(tensor):
    return float(tensor.float().square().mean().sqrt()) if tensor.numel() else 0.0


def instability(own, exact):
    """The error of an answer: 1 is the least tolerance of its type; infinite where values are lost."""
    if not own.is_floating_point():
        return 0.0
    if not bool(own.isfinite().all()):
        return math.inf
    _, norm, _, wide_norm, share = error_of(own, exact)
    return math.inf if share else max(norm, wide_norm) / CALM.get(own.dtype, CALM[torch.float32])


def lacks_memory(error):
    """Whether others may have left too little of the device: no reason to answer less precisely from now on."""
    words = ("out of memory", "ALLOC_FAILED", "NOT_INITIALIZED")
    return isinstance(error, torch.OutOfMemoryError) or any(each in str(error) for each in words)


class Reference(Artifact):
    """A loaded reference. `report`: what its last ERROR found, as JSON."""

    def load(self, support):
        self.module = run_source(self.name, self.source, "reference")
        self.given = constructor_arguments(self.module)
        in_place = changes_inputs([*self.meta["inputs"], *self.meta["parameters"]])
        self.copy = torch.Tensor.clone if in_place else as_it_is  # of parameters, which are the judge's and must stay
        self.double = None  # the double form, or False where there is none
        self.base = None  # parameters as they were made
        self.varied = None  # of the inputs' tensors, in their order
        self.structures = None  # of those that are varied
        self.level = None  # how much structure they get; decided once
        self.trusted_double = False
        self.keeps_kind = False  # NaN and infinity of the reference's own form are right, too
        self.report = ""
        self.shortcuts = None  # those that are still to be reported

    def entry(self, name):
        self.model = self.model or self.bind_model(self.factory(), self.meta["module"])
        if name in (INPUTS, VARIED, *PLAIN):
            is_plain = name in PLAIN
            self.base = self.base or self.parameters_made(is_plain)
            varied = PLAIN.get(name, name) == VARIED
            return lambda values: self.make_inputs(values, varied, is_plain)
        if name in (OWN, REFERENCE):
            return lambda values: self.run_own(values, name == OWN)
        if name == STRICT:
            return self.run_strict
        self.prepare_double()
        return {ERROR: self.run_error, SHORTCUTS: self.run_shortcuts}.get(name, self.run_exact)

    def factory(self):
        return getattr(self.module, self.meta["module"])

    def prepare_double(self):
        if self.double is None:
            self.double = not self.is_too_large_for_double() and (self.double_form() or False)

    def parameters_made(self, is_plain=False):
        """As the constructor made them: by tensor of floats, what it holds and how far each may be from that; and the
        others. `is_plain`: buffers of zeros stay zeros."""
        floats, others = {}, []
        for mine, parameter in self.model[1].pairs:
            if mine.is_floating_point():
                floats.setdefault(parameter["tensor"], []).append((parameter, mine.detach().flatten()))
            else:
                others.append((parameter, mine.detach().clone()))
        return {name: self.packed(parts, is_plain) for name, parts in floats.items()}, others

    def packed(self, parts, is_plain):
        size = max(parameter["at"] + made.numel() for parameter, made in parts)
        base = torch.zeros(size, dtype=parts[0][1].dtype, device=PLACE.device)
        spread = torch.zeros_like(base)
        for parameter, made in parts:
            part = slice(parameter["at"], parameter["at"] + made.numel())
            base[part] = made
            # Biases and running means of zero, too; a variance must stay positive.
            if parameter["kind"] == "parameter" or not (is_plain or made.any()):
                spread[part] = 0.1 * (root_mean_square(made) or 0.5)
        return base, spread

    def double_form(self):
        """The reference in double, or nothing where it has no such form."""
        factory = self.factory()
        try:
            return self.bind_model(lambda *a, **k: factory(*a, **k).double(), self.meta["module"])
        except Exception as error:
            if lacks_memory(error):
                raise
            return None

    def run_exact(self, values):
        places, seed = self.at(values)
        self.write(places, self.exact_answers(places, seed), as_double=True)

    def exact_answers(self, places, seed):
        """In double; where that form computes something else, in the reference's own types without TF32."""
        if self.double:
            try:
                wide = self.in_double(places, seed)
                if wide is not None:
                    return wide
            except RuntimeError as error:
                if lacks_memory(error):
                    raise
            finally:
                self.give_back()
            # It mixes dtypes of its own, or draws numbers, and others in double: its own precision has to do.
            self.double = False
        with strict():
            return self.in_own_precision(places, seed)

    def is_too_large_for_double(self):
        """Rationale: copies of inputs and outputs in double are to leave room for everybody else's on the device."""
        most = PLACE.memory_total() // DOUBLE_SHARE
        parameters = sum(count(p["shape"]) * DTYPES[p["dtype"]].itemsize for p in self.meta["parameters"])
        return 0 < most < self.bytes_of_call() + 2 * parameters

    def in_double(self, places, seed):
        """The double form's answers, or nothing where they are others. That is asked once."""

        def widen(tensor):  # a copy: the module may write to it
            return tensor.to(torch.float64, copy=True) if tensor.is_floating_point() else tensor.clone()

        torch.set_default_dtype(torch.float64)
        try:
            self.set_parameters(places, self.double[1], widen)
            PLACE.seed(seed)
            wide = flat(self.double[0](*self.inputs(places, widen)))
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

    def in_own_precision(self, places, seed, model=None):
        """The reference's answers. It may write to its inputs, so it gets copies; of large ones only if it does."""
        self.set_parameters(places, self.model[1], self.copy)
        PLACE.seed(seed)
        copy = self.copy if self.is_too_large_for_double() else torch.Tensor.clone
        return flat((self.model[0] if model is None else model)(*self.inputs(places, copy)))

    def precision(self):
        """What the task allows here: the processor has no TF32."""
        given = self.meta.get("precision", {})
        return given if PLACE.device.type != "cpu" else {"compute": given.get("compute", "f32")}

    def run_own(self, values, as_double):
        """The reference's answers in the precision that it is timed in."""
        places, seed = self.at(values)
        self.write(places, self.in_own_precision(places, seed), as_double)

    def run_strict(self, values):
        """The reference's answers in its own types, without TF32."""
        with strict():
            self.run_own(values, as_double=False)

    def run_error(self, values):
        """Says how far the reference's own answers are from the exact ones, and so those with the operands that the
        precision of the task allows, whatever algorithm a library chose for the reference."""
        places, seed = self.at(values)
        before = PLACE.memory_used()
        own = self.in_own_precision(places, seed)
        most = PLACE.memory_most() - before
        exact = self.exact_answers(places, seed)
        found = [{"own": rounded(error_of(*pair))} for pair in zip(own, exact, strict=True)]
        del own
        with Shortened(self.precision()) as shortened:
            allowed = self.in_own_precision(places, seed) if shortened.operators else []
        if shortened.used:
            for output, mine, right in zip(found, allowed, exact, strict=True):
                output["allowed"] = rounded(error_of(mine, right))
        self.report = json.dumps(
            {"outputs": found, "in_double": bool(self.double), "memory_bytes": max(0, most)},
            separators=(",", ":"),
        )
        del allowed, exact
        self.give_back()

    def run_shortcuts(self, values):
        """Says how far the next answer is that takes less work than the reference, or computes it another way."""
        places, seed = self.at(values)
        if self.shortcuts is None:
            self.shortcuts = all_shortcuts(self, places, seed)
        report = next(self.shortcuts, None)
        if report is None:
            self.shortcuts = None
            self.give_back()
        self.report = json.dumps(report or {"answer": ""}, separators=(",", ":"))

    def answers_to_others(self, places, seed):
        """The reference's answers to other inputs of the same kind."""
        PLACE.seed(seed ^ 1)
        with PLACE.device:
            given = self.module.get_inputs()
        self.set_parameters(places, self.model[1], self.copy)
        return flat(self.model[0](*placed(given)))

    def make_inputs(self, values, varied, is_plain=False):
        """The reference's own inputs, or varied ones with structure, and parameters about as its constructor made them,
        but others each time."""
        places, seed = self.at(values)
        if not varied or is_plain:
            return self.fill(places, seed, varied, NONE)
        if self.level is None:
            self.level = self.level_that_fits(places)
        return self.fill(places, seed, varied, self.level)

    def level_that_fits(self, places):
        """The most structure with which the reference gives finite numbers that are about as exact as without.

        Rationale: beside biases, which do not shrink, a quiet part is nearly constant. To normalise that magnifies
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

    def instability_at(self, places, level):
        self.fill(places, TRIAL_SEED, True, level)
        if not self.structures:
            return 0.0  # nothing is varied, so all levels are the same
        self.prepare_double()
        kept = self.double, self.trusted_double, self.keeps_kind  # the first real inputs decide about these
        try:
            own = self.in_own_precision(places, TRIAL_SEED)
            exact = self.exact_answers(places, TRIAL_SEED)
            if kept[0] and not self.double:
                return math.inf  # the double form gives something else
            return max((instability(*pair) for pair in zip(own, exact, strict=True)), default=0.0)
        except Exception as error:
            if lacks_memory(error):
                raise
            return math.inf
        finally:
            self.double, self.trusted_double, self.keeps_kind = kept
            self.give_back()

    def fill(self, places, seed, varied, level):
        """Makes the inputs and parameters of one call. Rationale: of a small module it takes longer than the module,
        for every call that is timed; so the fewest operations count here, and parameters are made together."""
        PLACE.seed(seed)
        made = []

        def put(spec, value):
            if "tensor" in spec:
                made.append(self.tensor(places, spec).copy_(torch.as_tensor(value)))
            elif "list" in spec:
                for one, inner in zip(spec["list"], value, strict=True):
                    put(one, inner)

        with PLACE.device:
            given = self.module.get_inputs()
        for spec, value in zip(self.meta["inputs"], given, strict=True):
            put(spec, value)
        del given
        if varied:
            if self.varied is None:
                self.varied = [is_varied(value) for value in made]
            floats = [value for value, is_so in zip(made, self.varied, strict=True) if is_so]
            if self.structures is None:
                self.structures = [Structure(value) for value in floats]
            structure_all(floats, self.structures, level)
            vary(floats)
        self.give_back()
        floats, others = self.base
        for name, (base, spread) in floats.items():
            to = ARENA.view(places[name], base.dtype, base.shape)
            to.uniform_(0.9, 1.1).mul_(base).addcmul_(torch.randn_like(base), spread)
        for parameter, base in others:
            self.tensor(places, parameter).copy_(base)
