import torch
from torch import nn

torch.manual_seed(0)
import numpy as np

data = np.random.RandomState(0).randn(6, 2).astype(np.float32)
x = torch.from_numpy(data)
model = nn.Linear(2, 1)
losses = []
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    loss = model(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.detach().numpy().item())
print(model(x).detach().numpy().shape, losses)
