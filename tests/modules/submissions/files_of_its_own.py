"""Honest, with files in each of the ways that libraries keep them."""

import json
import os
import shutil
import tempfile

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, width, slope=0.5):
        super().__init__()
        self.fc = nn.Linear(width, width)
        self.slope = slope
        self.register_buffer("shift", torch.full((width,), 0.25))
        with open("settings.json", "w", encoding="utf-8") as file:
            json.dump({"slope": slope}, file)

    def right(self, x):
        y = x @ self.fc.weight.t() + self.fc.bias + self.shift
        return torch.where(y > 0, y, self.slope * y)

    def forward(self, x):
        with tempfile.NamedTemporaryFile(suffix=".pt") as file:
            torch.save(x.clone(), file)
            file.flush()
            x = torch.load(file.name)
        folder = tempfile.mkdtemp(prefix="cache")
        os.makedirs(f"{folder}/deep/er")
        with open(f"{folder}/deep/er/part", "wb") as file:
            file.write(b"part")
        os.replace(f"{folder}/deep/er/part", f"{folder}/whole")
        shutil.copy2(f"{folder}/whole", f"{folder}/copy")
        assert sorted(os.listdir(folder)) == ["copy", "deep", "whole"]
        shutil.rmtree(folder)
        with open(os.path.join(os.path.expanduser("~"), "settings.json"), encoding="utf-8") as file:
            assert json.load(file) == {"slope": self.slope}
        return self.right(x)
