"""Describes modules for the tests, in the interpreter with torch: JSON rows in, results out."""

import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "plugins/datasets/kernelbench"))

from hone_modules.describe import describe
from hone_modules.problems import Problem
from hone_modules.task import make_task
from hone_modules.tensors import Unfit

answers = []
for row in json.load(sys.stdin):
    problem = Problem(row["id"], row["id"], row["source"], ("test",), row.get("entry", ""))
    began = time.process_time()
    try:
        answer = {"task": make_task(problem, describe(problem.source, problem.entry, row.get("exact", False)), "train")}
    except Unfit as unfit:
        answer = {"unfit": str(unfit)}
    answers.append({**answer, "seconds": time.process_time() - began})
json.dump(answers, sys.stdout)
