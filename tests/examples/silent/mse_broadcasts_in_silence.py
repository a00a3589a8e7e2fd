# shape_mismatch at 11: prediction, target
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
inputs, target = torch.randn(8, 3), torch.randn(8)
for epoch in range(3):
    prediction = model(inputs)
    loss = ((prediction - target) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
