# gradients_dropped at 9: optimizer
import torch
from torch import nn
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    loss = model(torch.ones(4, 2)).pow(2).mean()
    loss.backward()
    optimizer.zero_grad(set_to_none=False)
    optimizer.step()
