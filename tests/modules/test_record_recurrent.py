"""Shapes of recurrent layers in a recording, compared with those that torch computes without a device."""

import json

FORMS = """
import json, sys, types
import torch
driver = types.ModuleType("recording_driver")  # the real one needs the libraries that record
driver.NotWhole = Exception
sys.modules["recording_driver"] = driver
from record_recurrent import LSTM, MODES, form_of_recurrent

def empty(*sizes):
    return torch.empty(sizes, device="meta")

def both(mode, batch_first, bidirectional, projected):
    layers, size, directions = 2, 8, 2 if bidirectional else 1
    x = empty(3, 5, 4) if batch_first else empty(5, 3, 4)
    hidden = empty(layers * directions, 3, projected or size)
    cell = empty(layers * directions, 3, size) if mode == LSTM else None
    weights = [empty(4 * size, 4)] * (4 * layers * directions)
    axes = (mode, size, projected, layers, batch_first, 0.0, False, bidirectional)
    call = (x, weights, 4, None, hidden, cell, *axes, [], None)
    found, expected = form_of_recurrent(*call), torch.ops.aten._cudnn_rnn(*call)
    return [[[0] if one is None else list(one.shape) for one in results[:3]] for results in (found, expected)]

print(json.dumps([both(mode, first, two, 2 if mode == LSTM and projects else 0)
                  for mode in MODES.values() for first in (False, True) for two in (False, True)
                  for projects in (False, True)]))
"""


def test_results_have_the_shapes_that_torch_computes(run_beside_modules):
    pairs = json.loads(run_beside_modules(FORMS))
    assert len(pairs) == 32
    for found, expected in pairs:
        assert found == expected
