"""Does dry runs for the tests, each in its own process: JSON rows in, results out.

`dry_run_rows.py DEVICE`, as for dry_run_module.py
"""

import json
import os
import sys
import tempfile
import warnings
from pathlib import Path

DEVICE = sys.argv[1]
sys.path.insert(0, str(Path(__file__).resolve().parent))
from module_folders import FOLDERS  # noqa: E402

sys.path[:0] = FOLDERS
sys.argv = ["dry_run_module.py", "device", "", DEVICE]
ALL = tempfile.TemporaryDirectory()
os.chdir(ALL.name)  # each module has a folder of its own, below
import dry_run_module  # noqa: E402
import module_absent_device  # noqa: E402
import module_cache  # noqa: E402

warnings.simplefilter("ignore")
module_absent_device.SECONDS_MAX = 600  # wall time, which differs ten times between a busy and a quiet machine
dry_run_module.warm()


def begin(row):
    """Starts a process that answers with the certain failure, the work, and the newly compiled files."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        os.dup2(2, 1)
        folder = tempfile.mkdtemp(dir=ALL.name)
        os.chdir(folder)
        os.environ["TRITON_HOME"] = folder
        module_cache.keep(module_cache.unpacked(row.get("kept", {})))
        before = set(module_cache.compiled())
        words, work = dry_run_module.DryRun(json.loads(DEVICE)).run(row["content"])
        new = {path: data for path, data in module_cache.compiled().items() if path not in before}
        with os.fdopen(writing, "w") as file:
            said = {"words": words, "work": json.loads(work or "null")}
            json.dump({**said, "compiled": module_cache.packed(new)}, file)
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
