"""Makes a task from a module: the map of docs/tasks.md, with the text for the model."""

import json
from typing import Any

from hone_modules.describe import Description
from hone_modules.problems import BACKENDS, PRECISION, Problem

WRAPPER = "triton_kernel_wrapper"
SEED_MAX = 2147483647
# The smallest tolerance, by the loosest type of an output: for one element, and for the root mean square of all errors.
# Both are relative to |exact| + RMS(exact). For f32, and elements as large as the RMS, the first equals KernelBench's
# tolerance (1e-4 absolute and relative). The error of a sequential sum of a million numbers is within the second.
LEAST = {"bf16": (4e-2, 8e-3), "f16": (1e-2, 1e-3), "f32": (5e-5, 1e-5), "f64": (1e-9, 1e-10)}


def tolerance_of(description: Description, compute: str = "f32") -> dict[str, Any]:
    """The loosest tolerance of the outputs' types. `compute`: a type that submissions may compute in."""
    dtypes = {output["dtype"] for output in description.outputs}
    if compute != "f32" and "f32" in dtypes:
        dtypes.add(compute)
    for dtype, (element, norm) in LEAST.items():
        if dtype in dtypes:
            reason = "the least; several times the reference's own error against its form in double, where that is more"
            return {"rtol": element, "rms": element, "norm": norm, "from_reference": True, "reason": reason}
    return {"from_reference": True, "reason": "all outputs are whole numbers, which are equal or wrong"}


def precision_text(precision: dict[str, Any]) -> str:
    """The precision as text, for fingerprints and users."""
    switches = [f"{name} {'on' if precision[name] else 'off'}" for name in ("conv_tf32", "matmul_tf32")]
    return ", ".join([*switches, f"compute {precision['compute']}"])


def shape_text(shape: list[int]) -> str:
    return " x ".join(map(str, shape)) if shape else "no axes"


def tensor_text(name: str, given: dict[str, Any]) -> str:
    """One line about an input tensor or a parameter."""
    changes = "; may be changed in place, as the reference does" if given.get("may_change") else ""
    return f"`{name}`: {given['dtype']}, {shape_text(given['shape'])}{changes}"


def input_text(given: dict[str, Any]) -> str:
    """One line about an input, for the model."""
    if "tensor" in given:
        return tensor_text(given["tensor"], given)
    if "list" in given:
        return "a list of " + "; ".join(input_text(item) for item in given["list"])
    return f"the value `{json.dumps(given['value'])}`"


def precision_for_model(precision: dict[str, Any]) -> str:
    """The required precision, for the model."""
    if precision["compute"] != "f32":
        return f"Products may be computed in {precision['compute']}."
    tf32 = [kind for kind, key in (("convolutions", "conv_tf32"), ("matrix products", "matmul_tf32")) if precision[key]]
    strict = [kind for kind in ("convolutions", "matrix products") if kind not in tf32]
    parts = [f"TF32 is allowed in {' and '.join(tf32)}"] if tf32 else []
    parts += [f"{' and '.join(strict)} are to be as exact as float32"] if strict else []
    return "Of float32: " + ", ".join(parts) + "."


def fence_for(source: str) -> str:
    """A fence that the source cannot close."""
    fence = "```"
    while fence in source:
        fence += "`"
    return fence


def text_for_model(problem: Problem, description: Description, precision: dict[str, Any]) -> str:
    """The text for the model: the assignment, the inputs and outputs, and the reference."""
    name = description.module
    lines = [
        f"The PyTorch module `{name}` below is to become faster. Write one Python file that defines either",
        "",
        f"- a class `ModelNew`, a `torch.nn.Module` whose constructor and `forward` take what those of `{name}` take;"
        " its parameters and buffers are given the values of the reference's, so keep their names and shapes; or",
        f"- a function `{WRAPPER}` that takes the inputs of `forward` in their order, then the parameters and buffers"
        " that it needs, named as below with `_` for each `.`, or in their order.",
        "",
        "It returns what `forward` returns: the same number of tensors, of the same shapes and types. The work is to"
        " be done by kernels of yours, in Triton for example, not by the operations that the reference calls.",
        "",
        precision_for_model(precision),
        "",
        "Inputs of `forward`, in order:",
        *(f"- {input_text(given)}" for given in description.inputs),
    ]
    if description.parameters:
        lines += ["", "Parameters and buffers:"]
        lines += [f"- {tensor_text(p['name'], p)}" for p in description.parameters]
    lines += ["", "Outputs:"]
    lines += [f"- {o['dtype']}, {shape_text(o['shape'])}" for o in description.outputs]
    fence = fence_for(problem.source)
    return "\n".join([*lines, "", "Reference:", "", f"{fence}python", problem.source.strip("\n"), fence])


def module_text(description: Description, baseline: str, precision: dict[str, Any]) -> str:
    """module.json: the layout of inputs, parameters and outputs, the baseline's mode, and the allowed precision."""
    return json.dumps(
        {
            "module": description.module,
            "inputs": description.inputs,
            "parameters": description.parameters,
            "outputs": description.outputs,
            "answer": description.answer,
            "baseline": baseline,
            "precision": precision,
        },
        separators=(",", ":"),
    )


def make_task(
    problem: Problem,
    description: Description,
    split: str,
    mode: str = "eager",
    precision: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """The whole task. A module has one concrete shape, so there are no dims. The seed is secret."""
    precision = PRECISION if precision is None else precision
    reference = {"name": "reference.py", "text": problem.source}
    baseline = {"name": "baseline.py", "text": f"{problem.source}\n\nModelNew = {description.module}\n"}
    sources = {
        "languages": ["python"],
        "reference": reference,
        "baseline": baseline,
        "support": [{"name": "module.json", "text": module_text(description, mode, precision)}, reference],
    }
    task = {
        "id": problem.id,
        "title": problem.title,
        "description": text_for_model(problem, description, precision),
        "split": split,
        "tags": list(problem.tags),
        "entry": "ModelNew",
        "dims": [],
        "tensors": description.tensors,
        "scalars": [{"name": "seed", "dtype": "i64", "range": [0, SEED_MAX]}],
        "arguments": [*(tensor["name"] for tensor in description.tensors), "seed"],
        # Varied ones alone may have answers that are known, as a loss whose hinge is never reached; so may its own.
        "families": [{"name": kind, "fill": {"kind": kind}} for kind in ("varied", "reference")],
        "shapes": {"shown": [{}, {}], "hidden": [], "timed": {}},
        "tolerance": tolerance_of(description, precision["compute"]),
        "precision": precision_text(precision),
        "threads": 1,
        "memory_mb": 2048,
        "run_seconds": 60,
        "cache": "warm",
        "backends": dict.fromkeys(BACKENDS, sources),
    }
    return {**task, "flops": description.flops} if description.flops > 0 else task
