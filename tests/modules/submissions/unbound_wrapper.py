"""A parameter of a wrapper that nothing fits."""


def triton_kernel_wrapper(x, weight, bias, shift, slope, block_size):
    return x
