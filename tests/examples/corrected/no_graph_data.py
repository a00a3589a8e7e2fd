import torch
x = torch.ones(2, requires_grad=True)
h = x * 2
loss = h.sum()
loss.backward()
