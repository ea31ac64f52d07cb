"""Values of modules: what constructors are given, what forward gives, and inputs made less foreseeable."""

import torch

LOOKED_AT = 1 << 20  # elements


def count(shape):
    total = 1
    for extent in shape:
        total *= extent
    return total


def constructor_arguments(module):
    """get_init_inputs() in each of its forms, as a dataset's describe.py takes them: none at all, {b: c}, [a, b] and
    [[a], {b: c}]."""
    given = module.get_init_inputs() if hasattr(module, "get_init_inputs") else []
    if isinstance(given, dict):
        return [], dict(given)
    given = list(given)
    if len(given) == 2 and isinstance(given[0], (list, tuple)) and isinstance(given[1], dict):
        return list(given[0]), dict(given[1])
    return given, {}


def flat(result, stranger=None):
    """The tensors of what forward gave. `stranger`: raised of what is no tensor and no number, else it is made one."""
    if isinstance(result, torch.Tensor):
        return [result]
    if isinstance(result, (list, tuple)):
        return [tensor for one in result for tensor in flat(one, stranger)]
    if stranger is not None and not isinstance(result, (bool, int, float, complex)):
        raise stranger(f"gave a {type(result).__module__}.{type(result).__qualname__}, expected a tensor")
    return [torch.as_tensor(result)]


def is_varied(tensor):
    """What holds whole numbers, a mask or a class, is to stay as it is. To look takes a wait for the device, and at all
    of a large tensor as much memory again."""
    some = tensor.flatten()[:LOOKED_AT]
    return tensor.is_floating_point() and tensor.numel() > 0 and not torch.equal(some, some.round())


def vary(floats):
    """Makes inputs of one and the same distribution less so: what depends on nothing but that is no constant any more.

    They are scaled down, and those of one shape are mixed, each by a secret amount that is often none, though never
    all: values keep their sign, and stay within the bounds that they had.
    """
    pairs = [(i, j) for i in range(len(floats)) for j in range(i) if floats[i].shape == floats[j].shape]
    draws = iter(torch.rand(2 * (len(pairs) + len(floats) + 1)).tolist())  # at once: one takes microseconds
    mixed, scaled = some_of(pairs, draws), some_of(range(len(floats)), draws)
    for i, tensor in enumerate(floats):
        for j in range(i):
            if (i, j) in mixed:
                tensor.lerp_(floats[j].to(tensor.dtype), 0.5 * next(draws))
        if i in scaled:
            tensor.mul_(0.25 + 0.75 * next(draws))


def some_of(things, draws):
    """Three of four, and one at least."""
    sure = int(next(draws) * len(things))
    return {thing for at, thing in enumerate(things) if next(draws) < 0.75 or at == sure}
