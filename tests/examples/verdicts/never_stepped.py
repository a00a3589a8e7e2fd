import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    loss = model(torch.tensor([[1.0, 2.0]])).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step
