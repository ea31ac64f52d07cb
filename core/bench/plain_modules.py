"""The baseline of `hone bench modules`: judges one submission in its own process, without a sandbox.

    python -I plain_modules.py processor|device REFERENCE SUBMISSION     each a file that defines ModelNew

Five trials against the reference with inputs of its own making, and on a device a hundred calls of each between events.
The submission may define a function triton_kernel_wrapper instead.
"""

import contextlib
import os
import sys

PLACE = sys.argv[1]
if PLACE == "processor":
    os.environ["TRITON_INTERPRET"] = "1"
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"  # as hone has it

import importlib.util  # noqa: E402

import torch  # noqa: E402

with contextlib.suppress(ImportError):
    import triton  # noqa: F401

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "shared"))  # -I leaves it out
from module_values import constructor_arguments, flat  # noqa: E402
from module_wrapper import bind_wrapper, constructor_settings  # noqa: E402

TRIALS, CALLS, TOLERANCE = 5, 100, 1e-2


def module_of(path):
    spec = importlib.util.spec_from_file_location(os.path.basename(path).removesuffix(".py"), path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def constructed(factory, args, kwargs, device):
    torch.manual_seed(0)
    return factory(*args, **kwargs).to(device)


def submitted(module, reference, model, device):
    """What to call: its ModelNew with the parameters of the reference's model, or its wrapper with them."""
    args, kwargs = given = constructor_arguments(reference)
    if hasattr(module, "ModelNew"):
        made = constructed(module.ModelNew, args, kwargs, device)
        made.load_state_dict(model.state_dict(), strict=False)
        return made
    weights = {name: {"shape": list(t.shape), "tensor": t} for name, t in model.state_dict().items()}
    settings = constructor_settings(reference.ModelNew, *given)
    bound = bind_wrapper(module.triton_kernel_wrapper, len(reference.get_inputs()), weights, settings)
    beyond = {n: v["tensor"] if isinstance(v, dict) and "tensor" in v else v for n, v in bound.items()}
    return lambda *inputs: module.triton_kernel_wrapper(*inputs, **beyond)


def moved(value, device):
    if isinstance(value, (list, tuple)):
        return [moved(one, device) for one in value]
    return value.to(device) if isinstance(value, torch.Tensor) else value


def same(expected, found):
    return len(expected) == len(found) and all(
        e.shape == f.shape and torch.allclose(f, e, atol=TOLERANCE, rtol=TOLERANCE)
        for e, f in zip(expected, found, strict=True)
    )


def microseconds(model, inputs):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for _ in range(CALLS):
        model(*inputs)
    end.record()
    end.synchronize()
    return start.elapsed_time(end) * 1e3 / CALLS


def main():
    device = "cpu" if PLACE == "processor" else "cuda"
    torch.set_num_threads(1)
    reference, submission = (module_of(path) for path in sys.argv[2:4])
    model = constructed(reference.ModelNew, *constructor_arguments(reference), device)
    models = [model, submitted(submission, reference, model, device)]
    with torch.no_grad():
        for trial in range(TRIALS):
            torch.manual_seed(trial)
            inputs = moved(reference.get_inputs(), device)
            answers = []
            for one in models:
                torch.manual_seed(trial)  # what is dropped is the same
                answers.append(flat(one(*inputs)))
            if not same(*answers):
                return 1
        if device == "cuda":
            print([microseconds(one, inputs) for one in models])
    return 0


if __name__ == "__main__":
    sys.exit(main())
