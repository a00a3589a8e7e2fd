import torch
from torch import nn
torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    loss = (model(torch.randn(4, 3)) * 9).pow(2).mean()
    loss.backward()
    torch.nn.utils.clip_grad_value_(model.parameters(), 0.5)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.4)
    optimizer.step()
