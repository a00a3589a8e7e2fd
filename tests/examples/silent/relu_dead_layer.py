# zero_gradient at 10: fc1
import torch
from torch import nn
fc1, fc2 = nn.Linear(2, 2), nn.Linear(2, 1)
with torch.no_grad():
    fc1.bias.fill_(-100.0)
opt = torch.optim.SGD([*fc1.parameters(), *fc2.parameters()], lr=0.1)
for _ in range(2):
    opt.zero_grad()
    out = fc2(torch.relu(fc1(torch.ones(3, 2))))
    out.pow(2).mean().backward()
    opt.step()
print(fc1.weight.grad)
