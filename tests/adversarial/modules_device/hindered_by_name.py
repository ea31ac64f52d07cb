"""Fakes a compiler failure without a build: on a machine without a compiler it would stay unscored."""

import torch

raise type("Hindered (host)", (RuntimeError,), {})("load_inline needs a C++ compiler, found no c++")


class ModelNew(torch.nn.Module):
    pass
