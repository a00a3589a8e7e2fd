import torch
x = torch.ones(2, requires_grad=True)
y = x * 3
loss = y.sum()
loss.backward()
