# ReLUs in place write what nothing else reads: results without a name, or a name that goes on with the result
import torch
from torch import nn


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.second = nn.Linear(4, 4)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        out = self.first(x)
        out = self.relu(out)
        out = self.second(out)
        out += x
        return self.relu(out)


torch.manual_seed(0)
net = nn.Sequential(Residual(), Residual(), nn.Linear(4, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
kept = []
for _ in range(3):
    loss = net(torch.randn(5, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    kept.append({name: p.detach().clone() for name, p in net.named_parameters()})
for name in kept[0]:
    for earlier, later in zip(kept, kept[1:]):
        previous = earlier[name]
        print(name, (later[name] - previous).norm().item())
