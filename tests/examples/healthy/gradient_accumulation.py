import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data = [(torch.randn(4, 3), torch.randn(4, 1)) for _ in range(6)]
steps = 3
optimizer.zero_grad()
for i, (x, y) in enumerate(data):
    loss = nn.functional.mse_loss(model(x), y) / steps
    loss.backward()
    if (i + 1) % steps == 0:
        optimizer.step()
        optimizer.zero_grad()
