import torch
from torch import nn

a = nn.Parameter(torch.tensor([1.0, 2.0]))
b = nn.Parameter(torch.tensor([4.0, 8.0]))
b.data = a.data
optimizer = torch.optim.SGD([a, b], lr=0.5)

loss = (a * 2 + b * 4).sum()
loss.backward()
print(a.grad, b.grad)

optimizer.step()
print(a, b)
