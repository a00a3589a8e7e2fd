"""Parameter initialisation and management: init functions, apply, tied parameters, lazy layers, buffers."""
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
print(net[2].state_dict())
print(type(net[2].bias).__name__, net[2].bias.data)
print(*[(name, param.shape) for name, param in net.named_parameters()])


def init_normal(m):
    if type(m) == nn.Linear:
        nn.init.normal_(m.weight, mean=0, std=0.01)
        nn.init.zeros_(m.bias)


def init_xavier(m):
    if type(m) == nn.Linear:
        nn.init.xavier_uniform_(m.weight)


net.apply(init_normal)
print(net[0].weight.data[0], net[0].bias.data[0])
net[0].apply(init_xavier)
net[2].apply(lambda m: nn.init.constant_(m.weight, 42))
print(net[0].weight.data[0], net[2].weight.data)


def my_init(m):
    if type(m) == nn.Linear:
        nn.init.uniform_(m.weight, -10, 10)
        m.weight.data *= m.weight.data.abs() >= 5


net.apply(my_init)
net[0].weight.data[:] += 1
net[0].weight.data[0, 0] = 42
print(net[0].weight.data[0])
shared = nn.Linear(8, 8)
tied = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), shared, nn.ReLU(), shared, nn.ReLU(), nn.Linear(8, 1))
tied(torch.ones(2, 4))
print(tied[2].weight.data[0] == tied[4].weight.data[0])
tied[2].weight.data[0, 0] = 100
print(tied[4].weight.data[0, 0], len(list(tied.parameters())))
lazy = nn.Sequential(nn.LazyLinear(6), nn.ReLU(), nn.LazyLinear(2))
print(lazy[0].weight)
lazy(torch.rand(2, 5))
print(lazy[0].weight.shape)
for init in (nn.init.kaiming_normal_, nn.init.kaiming_uniform_, nn.init.orthogonal_, nn.init.xavier_normal_, nn.init.trunc_normal_):
    w = torch.empty(5, 5)
    init(w)
    print(init.__name__, w.std() > 0)
print(nn.init.calculate_gain("relu"), nn.init.eye_(torch.empty(2, 2)))


class CenteredLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("offset", torch.tensor(0.5))

    def forward(self, X):
        return X - X.mean() + self.offset


print(CenteredLayer()(torch.arange(5.0)), list(CenteredLayer().state_dict()))
