"""Raises the error of hone's own compiler of extensions, so that the flag of a hindered machine is set, and builds nothing.

It names torch.utils.cpp_extension, so that it counts as a submission with extensions.
"""

import sys

import torch

raise sys.modules["module_compile"].Hindered("load_inline needs a C++ compiler, found no c++")


class ModelNew(torch.nn.Module):
    pass
