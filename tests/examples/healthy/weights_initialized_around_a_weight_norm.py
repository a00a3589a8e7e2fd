from functools import lru_cache

import numpy as np
import torch
from torch import nn
from torch.nn.utils import parametrize
from torch.nn.utils.parametrizations import orthogonal, spectral_norm, weight_norm

@lru_cache
def doubled(rows):
    return rows.detach() * 2

class Table(nn.Module):
    def __init__(self):
        super().__init__()
        self.rows = nn.Parameter(torch.zeros(3, 3))
        self.cache, self.array, self.lists = {}, np.zeros(3, dtype=np.float32), [[1.0, 2.0], [3.0, 4.0]]
    @property
    def weight(self):
        return self.rows
    @property
    def scaled(self):
        self.cache["scaled"] = self.rows * 2
        return self.cache["scaled"]
    @property
    def numbers(self):
        return torch.as_tensor(self.array)
    @property
    def kept(self):
        return doubled(self.rows)
    @property
    def exported(self):
        result = self.rows.detach() + 0
        self.array = result.numpy()
        return result
    @property
    def first(self):
        return torch.stack([torch.tensor(each) for each in self.lists])
    @first.setter
    def first(self, values):
        self.lists = values.tolist()
    @property
    def noise(self):
        return torch.empty(3, 3)

torch.manual_seed(0)
first, second, third = nn.Linear(3, 3), nn.Linear(3, 3), nn.Linear(3, 3)
first.weight.data.normal_(0.0, 0.01)
first = weight_norm(first)
second = spectral_norm(second)
third = orthogonal(third)
with torch.no_grad():
    first.parametrizations.weight.original1.normal_(0.0, 0.1)
    second.weight = torch.randn(3, 3)
    second.weight *= 0.5
    first.bias[0] = 1.0
    first.bias.data[1:] *= 2
nn.init.zeros_(second.bias)
table = Table()
nn.init.orthogonal_(table.weight)
table.weight.data[0] = 1.0
table.scaled.data.clamp_(0, 1)
table.numbers[0] = 4.0
table.numbers.add_(1)
table.kept.add_(1)
table.kept[0] = 2.0
table.exported.mul_(3)
table.first *= 2
with parametrize.cached(), torch.no_grad():
    first.weight.mul_(2)
    print(first.weight, table.numbers, table.kept, table.array, table.lists)
drawn = table.noise.normal_()
total = table.scaled.add_(1).sum()
print(total, table.cache["scaled"])
net = nn.Sequential(first, second, third)
optimizer = torch.optim.SGD([*net.parameters(), table.rows], lr=0.01)
for _ in range(3):
    loss = (net(torch.randn(4, 3)) @ table.weight + drawn.mean()).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
