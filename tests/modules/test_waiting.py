"""Progress output of hone eval while a module is described and PyTorch is imported."""

import os
import pty
import subprocess

from pseudo_terminal import read_terminal

MODULE = """import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x + 1
def get_inputs():
    return [torch.rand(4)]
"""


def test_eval_reports_that_it_waits_for_pytorch(hone_binary, python, tmp_path):
    (tmp_path / "problems").mkdir()
    (tmp_path / "problems/plus.py").write_text(MODULE)
    (tmp_path / "new.py").write_text(MODULE.replace("class Model", "class ModelNew").replace("x + 1", "1 + x"))
    datasets = f"datasets=[{{name: m, plugin: modules, config: {{path: {tmp_path}/problems}}}}]"
    sets = [f"--set={one}" for one in (datasets, f"plugins.python={python}", f"cpu.python={python}")]
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [hone_binary, "eval", "m/plus", str(tmp_path / "new.py"), *sets], stdout=subprocess.DEVNULL, stderr=theirs
    ) as ran:
        os.close(theirs)
        said = read_terminal(ours)
        assert ran.wait(300) == 0, said.decode()
    assert "reading task m/plus (a module imports PyTorch first" in said.decode()
