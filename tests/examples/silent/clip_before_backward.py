# clip_without_gradient at 9: clip_grad_norm_
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
for _ in range(3):
    optimizer.zero_grad()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    loss = (model(torch.randn(4, 3)) * 50).pow(2).mean()
    loss.backward()
    optimizer.step()
