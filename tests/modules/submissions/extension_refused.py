"""An extension that does not compile: a name that there is not."""

from torch.utils.cpp_extension import load_inline

SOURCE = """
torch::Tensor twice(torch::Tensor x) {
    return x * a_name_that_is_not_there;
}
"""

extension = load_inline(name="twice_extension", cpp_sources=SOURCE, functions=["twice"])


class ModelNew:
    pass
