"""Builds torch extensions for the tests, like the process of a submission: JSON rows in, results out.

A row: what load_inline is given; "calls": [[function, arguments…], …], of lists as tensors; "environment"; "kept".
"""

import hashlib
import json
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from module_folders import FOLDERS

sys.path[:0] = FOLDERS
sys.argv = ["run_module.py", "emulated"]
ALL = tempfile.TemporaryDirectory()
os.chdir(ALL.name)
import module_cache  # noqa: E402
import module_compile  # noqa: E402
import module_extension  # noqa: E402
import run_module  # noqa: E402
import torch  # noqa: E402

extension = module_extension.imported()
module_extension.Extensions().install("sm_90a", run_module.note_extension)


def plain(value):
    if isinstance(value, torch.Tensor):
        return {"dtype": str(value.dtype), "values": value.tolist()}
    return [plain(one) for one in value] if isinstance(value, (list, tuple)) else value


def answer(row):
    trimmed = []
    build = module_compile.build

    def noted(*arguments):
        trimmed.append(build(*arguments))

    module_compile.build = noted
    os.environ.update(row.get("environment", {}))
    os.chdir(tempfile.mkdtemp(dir=ALL.name))
    module_cache.keep(module_cache.unpacked(row.get("kept", {})))
    said = {}
    try:
        made = extension.load_inline(**row["given"])
        called = row.get("calls", ())
        given = [[torch.tensor(a) if isinstance(a, list) else a for a in arguments] for _, *arguments in called]
        run_module.WATCH.ask()
        functions = [getattr(made, name) for name, *_ in called]
        gave = run_module.WATCH.call(lambda: [call(*each) for call, each in zip(functions, given, strict=True)])
        said.update(gave=plain(gave), kernels=run_module.WATCH.kernels)
    except Exception as error:
        said.update(error=type(error).__name__, words=getattr(error, "words", str(error)))
    files = module_cache.compiled()
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    return {**said, "trimmed": trimmed, "hashes": hashes, "kept": module_cache.packed(files)}


def forked(row):
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(2, 1)
        with os.fdopen(writing, "w") as file:
            json.dump(answer(row), file)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as file:
        said = json.load(file)
    os.waitpid(pid, 0)
    return said


json.dump([forked(row) for row in json.load(sys.stdin)], sys.stdout)
