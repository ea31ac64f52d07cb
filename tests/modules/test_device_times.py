"""Device times of a module's kernels and operators, with a clock that the test controls."""

import json

SPANS = """
import json, sys, types
import torch
import module_work

now = [0.0]  # milliseconds

class Event:
    def __init__(self, enable_timing):
        pass

    def record(self):
        now[0] += 0.25  # what a span of nothing takes
        self.at = now[0]

    def elapsed_time(self, later):
        return later.at - self.at

torch.cuda.Event = Event
torch.cuda._sleep = lambda cycles: None
torch.cuda.is_current_stream_capturing = lambda: capturing[0]
module_work.PLACE.device = types.SimpleNamespace(type="cuda")
module_work.PLACE.wait = lambda: None
capturing = [False]
said = []

times = module_work.DeviceTimes()
with module_work.timed(times, True):  # a function of an extension,
    now[0] += 2
    with module_work.timed(times, False):  # that calls an operator
        now[0] += 5
    now[0] += 1
with module_work.timed(times, False):
    now[0] += 4
said.append(times.totals())
times = module_work.DeviceTimes()
said.append(times.totals())
for _ in range(module_work.SPANS_MAX + 1):
    with module_work.timed(times, True):
        now[0] += 1
said.append(times.totals())
times = module_work.DeviceTimes()
capturing[0] = True
with module_work.timed(times, True):
    now[0] += 1
said.append(times.totals())
print(json.dumps(said))
"""


def test_time_of_inner_spans_is_subtracted(run_beside_modules):
    printed = run_beside_modules(SPANS)
    nested, none, too_many, captured = json.loads(printed)
    assert nested == {"kernels_us": 3000.0, "operators_us": 9000.0}
    assert none == too_many == captured == {}
