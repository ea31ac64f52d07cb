"""Records a module of torch with the recording driver: record_module.py FILE; prints JSON with what became of it."""

import ctypes
import importlib.util
import json
import sys
import warnings
from typing import Any

import torch

OPERATORS = ("mm", "addmm", "bmm", "mm.out", "addmm.out", "bmm.out")
FACTS = {"architecture": "sm_90", "memory_bytes": 85028765696, "multiprocessors": 132, "shared_bytes": 232448}

warnings.filterwarnings("ignore")
DRIVER = ctypes.CDLL("libcuda.so.1")
DRIVER.hone_record_task_memory.restype = ctypes.c_uint64
DRIVER.hone_record_task_memory.argtypes = [ctypes.c_uint32, ctypes.c_uint64]
DRIVER.hone_record_result.argtypes = [ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint32]
DRIVER.hone_record_run_digest.restype = ctypes.c_uint64
DRIVER.hone_record_problem.restype = ctypes.c_char_p


class TaskTensors:
    """Tensors in memory of the task, numbered in their order."""

    def __init__(self) -> None:
        self.count = 0

    def like(self, tensor: torch.Tensor) -> torch.Tensor:
        """A tensor of the same shape, whose storage is a piece of the task's memory."""
        size = max(tensor.numel() * tensor.element_size(), 1)
        address = DRIVER.hone_record_task_memory(self.count, size)
        self.count += 1
        holder = type("Holder", (), {})()
        holder.__cuda_array_interface__ = {"shape": (size,), "typestr": "|u1", "data": (address, False), "version": 2}
        flat = torch.as_tensor(holder, device="cuda").view(tensor.dtype)
        return flat.as_strided(tensor.shape, tensor.stride())


def describe(value: Any, tensors: list[dict[str, Any]]) -> Any:
    if isinstance(value, torch.Tensor):
        shape = {"sizes": list(value.shape), "strides": list(value.stride())}
        tensors.append({"address": value.data_ptr(), "dtype": str(value.dtype)[6:], **shape})
        return {"tensor": len(tensors) - 1}
    return [describe(one, tensors) for one in value] if isinstance(value, (list, tuple)) else value


def replace_operator(name: str) -> torch.library.Library:
    """Makes calls of a vendor library's operator steps of the plan."""
    base, _, overload = name.partition(".")
    operator = getattr(getattr(torch.ops.aten, base), overload or "default")

    def call(*arguments: Any, **keywords: Any) -> Any:
        result = keywords.pop("out", None)
        if overload == "out" and result is None:
            *arguments, result = arguments
        if result is None:
            to_meta = [one.to("meta") if isinstance(one, torch.Tensor) else one for one in arguments]
            shape = operator(*to_meta, **keywords)
            result = torch.empty_strided(shape.shape, shape.stride(), dtype=shape.dtype, device="cuda")
        tensors: list[dict[str, Any]] = []
        record = {"name": f"aten.{name}", "arguments": describe(arguments, tensors), "keywords": keywords}
        first = len(tensors)
        describe(result, tensors)
        record |= {"tensors": tensors, "results": list(range(first, len(tensors)))}
        record["stream"] = torch.cuda.current_stream().cuda_stream
        DRIVER.hone_record_operator(json.dumps(record).encode())
        return result

    library = torch.library.Library("aten", "IMPL", "CUDA")
    library.impl(name, call, "CUDA")
    return library


def record(path: str) -> dict[str, Any]:
    DRIVER.hone_record_begin(json.dumps(FACTS).encode())
    replaced = [replace_operator(name) for name in OPERATORS]  # as long as these live
    spec = importlib.util.spec_from_file_location("recorded", path)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    sys.modules["recorded"] = loaded
    spec.loader.exec_module(loaded)
    task = TaskTensors()
    with torch.device("meta"):
        shapes = loaded.get_inputs()
    inputs = [task.like(shape) for shape in shapes]
    module = loaded.ModelNew(*loaded.get_init_inputs())._apply(task.like)
    digests, is_result, raised = [], False, ""
    try:
        with torch.no_grad():
            for _ in range(3):
                torch.cuda.manual_seed(1)
                DRIVER.hone_record_run_begin()
                out = module(*inputs)
                size = out.numel() * out.element_size()
                is_result = bool(DRIVER.hone_record_result(out.data_ptr(), size, task.count))
                DRIVER.hone_record_run_end()
                digests.append(DRIVER.hone_record_run_digest())
                del out
    except Exception as error:
        raised = str(error)
    data, size_of_plan = ctypes.POINTER(ctypes.c_char)(), ctypes.c_uint64()
    made = DRIVER.hone_record_finish(ctypes.byref(data), ctypes.byref(size_of_plan))
    return {
        "made": bool(made),
        "operators": len(replaced),
        "problem": DRIVER.hone_record_problem().decode(),
        "same": len(digests) == 3 and digests[1] == digests[2],
        "is_result": is_result,
        "bytes": size_of_plan.value,
        "raised": raised,
    }


if __name__ == "__main__":
    print(json.dumps(record(sys.argv[1])))
