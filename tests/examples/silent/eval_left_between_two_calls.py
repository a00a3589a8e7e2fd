# eval_never_left at 21: net, net.eval()
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.3), nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)


def learn(part):
    """One update."""
    optimizer.zero_grad()
    error = (net(part) - part.sum(1, keepdim=True)).square().mean()
    error.backward()
    optimizer.step()


first, second = torch.randn(10, 4), torch.randn(10, 4)
learn(first)
learn(second)
net.eval()
with torch.no_grad():
    print(net(first).mean().item())
learn(first)
