# no_graph: pred
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Linear(4, 3)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(6, 4), torch.tensor([0, 1, 2, 0, 1, 2])
for epoch in range(2):
    out = model(x)
    _, pred = torch.max(out, 1)  # cause
    loss = (pred != y).float().mean()  # cause
    opt.zero_grad()
    loss.backward()
    opt.step()
