import torch
from torch import nn
torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    loss = (model(torch.randn(4, 3)) * 9).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(torch.nn.utils.clip_grad_norm_(model.parameters(), float("inf")).item())
