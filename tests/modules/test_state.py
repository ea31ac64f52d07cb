"""State that a module leaves in its process is detected, and honest modules leave none."""

import json

CHANGES = [
    "torch.set_default_dtype(torch.float64)",
    "torch.set_default_device('meta')",
    "torch.set_num_threads(torch.get_num_threads() + 1)",
    "torch.set_float32_matmul_precision('high')",
    "torch.use_deterministic_algorithms(True)",
    "torch.set_grad_enabled(False)",
    "torch.autograd.set_detect_anomaly(True)",
    "torch.backends.cuda.enable_flash_sdp(False)",
    "torch.backends.cudnn.benchmark = True",
    "torch.backends.cudnn.allow_tf32 = False",
    "torch.nn.modules.module.register_module_forward_hook(lambda *ignored: None)",
    "torch.nn.functional.gelu = lambda x, **ignored: x",
    "torch.nn.Linear.forward = lambda self, x: x",
    "torch.Tensor.sum = lambda self: self",
    "torch.relu = torch.sigmoid",
    "torch.nn.Linear.extra = 1",
    "os.environ['HONE_CHANGED'] = '1'",
    "sys.setrecursionlimit(5000)",
    "gc.disable()",
    "threading.Thread(target=threading.Event().wait, daemon=True).start()",
    "torch.device('cpu').__enter__()",
]
WATCHED = """
import gc, json, os, sys, threading
import torch
import module_state

said = []
state = module_state.State()
with torch.no_grad():
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.GELU())
    net(torch.rand(2, 3, 8, 8)).sum().item()
    torch.nn.functional.scaled_dot_product_attention(*[torch.rand(1, 2, 4, 8)] * 3)
    torch.einsum("ij,jk->ik", torch.rand(3, 3), torch.rand(3, 3))
    torch.nn.LSTM(4, 4)(torch.rand(2, 2, 4))
    torch.nn.TransformerEncoderLayer(8, 2)(torch.rand(3, 2, 8))
torch.manual_seed(1)
said.append(state.difference())
for change in json.loads(sys.argv[1]):
    state = module_state.State()
    exec(change)
    said.append(state.difference())
os.write(1, json.dumps(said).encode())
os._exit(0)
"""


def test_changes_are_detected(run_beside_modules):
    printed = run_beside_modules(WATCHED, json.dumps(CHANGES))
    of_work, *of_changes = json.loads(printed)
    assert of_work == ""
    assert [change for change, seen in zip(CHANGES, of_changes, strict=True) if not seen] == []
