import torch
import numpy as np

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 3)
        self.scale = torch.nn.Parameter(torch.ones(3))
    def forward(self, x):
        if x.size(0) > 2:
            x = x[:2]
        return torch.relu(self.layer(x)) * self.scale
net = Net()
scripted = torch.jit.script(net)
x = torch.arange(6.0).view(3, 2)
for _ in range(3):
    out = scripted(x)
    out.sum().backward()
print(scripted.code, out, net.scale.grad, torch.equal(out, net(x)))
print(list(scripted.state_dict()), scripted.original_name)
