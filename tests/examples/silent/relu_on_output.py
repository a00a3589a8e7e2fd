# zero_gradient at 8: fc
import torch
from torch import nn
fc = nn.Linear(2, 1)
with torch.no_grad():
    fc.weight.fill_(-1.0)
    fc.bias.fill_(-1.0)
out = torch.relu(fc(torch.ones(3, 2)))
loss = (out - 2).pow(2).mean()
loss.backward()
print(fc.weight.grad)
