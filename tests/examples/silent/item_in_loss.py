# grad_none at 6: m.weight, out
import torch
from torch import nn
m = nn.Linear(2, 1)
out = m(torch.ones(4, 2)).mean()
loss = torch.tensor(out.item(), requires_grad=True)
loss.backward()
print(m.weight.grad)
