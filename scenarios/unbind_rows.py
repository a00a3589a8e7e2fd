import torch

w = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
h = w * 2

h[0].mul_(4)
print(h)

for row in h:
    row.mul_(4)
