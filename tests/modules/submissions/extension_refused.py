"""An extension that does not compile: a name that there is not. Without torch's headers, that takes part of a second."""

from torch.utils.cpp_extension import load_inline

SOURCE = """
#include <Python.h>
int twice(int x) {
    return x * a_name_that_is_not_there;
}
"""

extension = load_inline(name="twice_extension", cpp_sources=[SOURCE], no_implicit_headers=True)


class ModelNew:
    pass
