# experts and feature maps are added and collected in a forward that is trained and then evaluated; nothing outlives a batch
import torch
from torch import nn


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.experts = nn.ModuleList([nn.Linear(3, 2) for _ in range(4)])
        self.aside = nn.ModuleList([nn.Linear(2, 2) for _ in range(3)])

    def forward(self, x):
        mixed = 0
        for expert in self.experts:
            mixed = mixed + expert(x)
        views = []
        for layer in self.aside:
            views.append(layer(mixed))
        return mixed, views


torch.manual_seed(0)
net = Experts()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(2):
    for _ in range(3):
        out, views = net(torch.randn(4, 3))
        loss = out.pow(2).mean() + sum(view.pow(2).mean() for view in views)
        opt.zero_grad()
        loss.backward()
        opt.step()
    out, views = net(torch.randn(4, 3))
    print(epoch, out.mean().item(), len(views))
