# parameter_detached at 9: optimizer
import torch
from torch import nn
torch.manual_seed(0)
def build(hidden):
    return nn.Sequential(nn.Linear(3, hidden), nn.ReLU(), nn.Linear(hidden, 1))
model = build(4)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
model = build(6)
for _ in range(3):
    loss = model(torch.randn(4, 3)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
