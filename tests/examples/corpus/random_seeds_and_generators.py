"""Reproducibility: seeds, generators, fork_rng, the state of a generator, seeds of DataLoader."""
import random

import numpy as np
import torch
from torch.utils.data import DataLoader

torch.manual_seed(42)
a = torch.rand(3)
torch.manual_seed(42)
print(torch.equal(a, torch.rand(3)), a)
g1, g2 = torch.Generator().manual_seed(1), torch.Generator().manual_seed(1)
print(torch.equal(torch.randn(2, generator=g1), torch.randn(2, generator=g2)), g1.initial_seed())
state = torch.get_rng_state()
x = torch.randn(2)
torch.set_rng_state(state)
print(torch.equal(x, torch.randn(2)))
with torch.random.fork_rng():
    torch.manual_seed(0)
    inside = torch.rand(1)
print(inside, torch.rand(1))
random.seed(3)
np.random.seed(3)
print(random.random(), np.random.rand(), random.sample(range(10), 3))


def order(seed):
    g = torch.Generator()
    g.manual_seed(seed)
    return [int(b) for b in DataLoader(range(5), shuffle=True, generator=g)]


print(order(0) == order(0), order(0), order(1))
torch.use_deterministic_algorithms(True)
print(torch.are_deterministic_algorithms_enabled())
torch.use_deterministic_algorithms(False)
dropout = torch.nn.Dropout(0.5)
torch.manual_seed(0)
first = dropout(torch.ones(6))
torch.manual_seed(0)
print(torch.equal(first, dropout(torch.ones(6))), torch.bernoulli(torch.full((4,), 0.5)), torch.randperm(4), torch.multinomial(torch.tensor([0.1, 0.9]), 3, replacement=True))
