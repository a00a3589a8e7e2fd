"""Layers of one's own: parameters, buffers, a layer without parameters, nested modules, extra_repr, skip connections."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)


class MyLinear(nn.Module):
    def __init__(self, in_units, units):
        super().__init__()
        self.in_units, self.units = in_units, units
        self.weight = nn.Parameter(torch.randn(in_units, units))
        self.bias = nn.Parameter(torch.randn(units,))

    def forward(self, X):
        linear = torch.matmul(X, self.weight.data) + self.bias.data
        return F.relu(linear)

    def extra_repr(self):
        return f"in_units={self.in_units}, units={self.units}"


class FixedHiddenMLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.rand_weight = torch.rand((4, 4), requires_grad=False)
        self.linear = nn.Linear(4, 4)

    def forward(self, X):
        X = self.linear(X)
        X = F.relu(torch.mm(X, self.rand_weight) + 1)
        X = self.linear(X)
        while X.abs().sum() > 1:
            X /= 2
        return X.sum()


class NestMLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 4), nn.ReLU())
        self.linear = nn.Linear(4, 4)

    def forward(self, X):
        return self.linear(self.net(X))


class MySequential(nn.Module):
    def __init__(self, *args):
        super().__init__()
        for idx, module in enumerate(args):
            self._modules[str(idx)] = module

    def forward(self, X):
        for block in self._modules.values():
            X = block(X)
        return X


print(MyLinear(5, 3))
out = MyLinear(4, 3)(torch.rand(2, 4))
print(out.requires_grad)
chimera = MySequential(NestMLP(), nn.Linear(4, 4), FixedHiddenMLP())
loss = chimera(torch.rand(2, 4))
print(loss)
try:
    loss.backward()
except RuntimeError as error:
    print(str(error)[:60])
print(len(list(chimera.parameters())), [n for n, _ in chimera.named_children()])
