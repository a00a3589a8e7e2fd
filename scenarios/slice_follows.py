import torch

x = torch.tensor([[1.0, 2.0], [4.0, 8.0]])
first = x[0]

y = x - first
print(first)

x[:] = x - first
print(first)
