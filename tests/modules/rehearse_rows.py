"""Rehearses modules for the tests, each in a process of its own: rows as JSON come in, answers go out.

`rehearse_rows.py DEVICE`, as rehearse_module.py has it
"""

import json
import os
import sys
import tempfile
import warnings
from pathlib import Path

DEVICE = sys.argv[1]
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "core/candidate/module"))
sys.argv = ["rehearse_module.py", "device", "", DEVICE]
ALL = tempfile.TemporaryDirectory()
os.chdir(ALL.name)  # each module has a folder of its own, below
import module_ahead  # noqa: E402
import rehearse_module  # noqa: E402

warnings.simplefilter("ignore")
rehearse_module.warm()


def begin(row):
    """A process that says what is certain to fail; what was started; and what was compiled that did not lie there
    already."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        os.dup2(2, 1)
        folder = tempfile.mkdtemp(dir=ALL.name)
        os.chdir(folder)
        os.environ["TRITON_HOME"] = folder
        module_ahead.keep(module_ahead.unpacked(row.get("kept", {})))
        before = set(module_ahead.compiled())
        words, work = rehearse_module.rehearse(row["content"], json.loads(DEVICE))
        new = {path: data for path, data in module_ahead.compiled().items() if path not in before}
        with os.fdopen(writing, "w") as file:
            said = {"words": words, "work": json.loads(work or "null")}
            json.dump({**said, "compiled": module_ahead.packed(new)}, file)
        os._exit(0)
    os.close(writing)
    return pid, reading


def end(pid, reading):
    with os.fdopen(reading) as file:
        answer = json.load(file)
    os.waitpid(pid, 0)
    return answer


answers, under_way = [], []
for row in json.load(sys.stdin):
    if len(under_way) == os.cpu_count():
        answers.append(end(*under_way.pop(0)))
    under_way.append(begin(row))
json.dump(answers + [end(*one) for one in under_way], sys.stdout)
