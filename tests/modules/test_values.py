"""Inputs made less foreseeable are never left as they were."""

VARIED = """
import sys
sys.path.insert(0, sys.argv[1])
import torch
from module_values import vary

torch.manual_seed(0)
least, mixes = 1.0, []
for _ in range(200):
    first, second, other = torch.randn(4096), torch.randn(4096), torch.rand(16)
    given = [first.clone(), second.clone(), other.clone()]
    vary(given)
    alike = torch.corrcoef(torch.stack([given[0], given[1]]))[0, 1].item()
    mixes.append(alike)
    scales = [now.std() / was.std() for now, was in zip(given, (first, second, other))]
    least = min(least, max(abs(1 - scale.item()) for scale in scales))
    assert (given[2] >= 0).all() and (given[2] <= 1).all()
assert least > 0.001, least
assert sum(alike > 0.05 for alike in mixes) > 150, mixes  # the second has of the first, if by little
alone = torch.rand(4096)
for _ in range(50):
    given = alone.clone()
    vary([given])
    assert given.max() < alone.max()
vary([])
"""


def test_something_is_mixed_and_something_is_scaled(run_beside_modules):
    run_beside_modules(VARIED)
