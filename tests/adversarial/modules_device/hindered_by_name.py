"""Raises an exception with the name of hone's error for a missing compiler, and builds nothing. A missing compiler is a
fault, which is never scored."""

import torch

raise type("Hindered (host)", (RuntimeError,), {})("load_inline needs a C++ compiler, found no c++")


class ModelNew(torch.nn.Module):
    pass
