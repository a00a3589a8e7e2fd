"""Containers: Sequential, ModuleList, ModuleDict, ParameterList, named children, replacing layers, hooks of state dicts."""
from collections import OrderedDict

import torch
from torch import nn

torch.manual_seed(0)
seq = nn.Sequential(OrderedDict([("fc1", nn.Linear(4, 3)), ("act", nn.ReLU()), ("fc2", nn.Linear(3, 2))]))
seq.append(nn.Softmax(dim=-1))
print(seq, len(seq), seq[0] is seq.fc1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])
        self.acts = nn.ModuleDict({"relu": nn.ReLU(), "tanh": nn.Tanh()})
        self.scales = nn.ParameterList([nn.Parameter(torch.ones(1) * k) for k in (1.0, 2.0)])
        self.plain = [nn.Linear(1, 1)]

    def forward(self, x, act="relu"):
        for layer, scale in zip(self.layers, self.scales):
            x = self.acts[act](layer(x)) * scale
        return x


net = Net()
print([name for name, _ in net.named_parameters()])
print([name for name, _ in net.named_children()], len(list(net.modules())))
print(net(torch.ones(1, 4), "tanh").shape)
for name, child in list(net.acts.named_children()):
    if isinstance(child, nn.ReLU):
        net.acts[name] = nn.LeakyReLU(0.1)
print(net.acts["relu"], net.get_submodule("layers.1"), net.get_parameter("scales.0"))
net.double()
print(next(net.parameters()).dtype)
net.float().requires_grad_(False)
print(any(p.requires_grad for p in net.parameters()))
net.layers[0].register_buffer("count", torch.zeros((), dtype=torch.long), persistent=False)
print("layers.0.count" in net.state_dict(), dict(net.named_buffers()).keys())
net.train(False)
print(net.training, net.layers[0].training)
print(nn.Identity()(torch.ones(1)), nn.Bilinear(2, 3, 1)(torch.ones(1, 2), torch.ones(1, 3)).shape, nn.Flatten(0)(torch.ones(2, 2)).shape)
