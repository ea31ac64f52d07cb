"""The yardstick of `hone bench modules`: what a harness without walls does for one submission, in a process of its own.

    python -I plain_modules.py processor|device REFERENCE SUBMISSION     each a file that defines ModelNew

Five trials against the reference with inputs of its own making, and on a device a hundred calls of each between events.
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

TRIALS, CALLS, TOLERANCE = 5, 100, 1e-2


def module_of(path):
    spec = importlib.util.spec_from_file_location(os.path.basename(path).removesuffix(".py"), path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


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
    given = reference.get_init_inputs() if hasattr(reference, "get_init_inputs") else []
    models = []
    for module in (reference, submission):
        torch.manual_seed(0)
        models.append(module.ModelNew(*given).to(device))
    models[1].load_state_dict(models[0].state_dict(), strict=False)
    with torch.no_grad():
        for trial in range(TRIALS):
            torch.manual_seed(trial)
            inputs = [x.to(device) if isinstance(x, torch.Tensor) else x for x in reference.get_inputs()]
            expected, found = (model(*inputs) for model in models)
            if not torch.allclose(found, expected, atol=TOLERANCE, rtol=TOLERANCE):
                return 1
        if device == "cuda":
            print([microseconds(model, inputs) for model in models])
    return 0


if __name__ == "__main__":
    sys.exit(main())
