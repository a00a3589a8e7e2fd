import torch
from torch import nn

torch.manual_seed(0)
encoder = nn.Linear(3, 2)
head = nn.Linear(2, 1)
optimizer = torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=0.1)
x = torch.tensor([[1.0, 2.0, 3.0], [0.5, -1.0, 2.0]])
target = torch.tensor([[1.0], [0.0]])
loss = nn.functional.mse_loss(head(encoder(x)), target)
running = loss.item()
loss = loss.detach()
optimizer.zero_grad()
loss.backward()
optimizer.step()
