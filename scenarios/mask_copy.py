import torch

a = torch.tensor([1.0, -2.0, -3.0, 4.0])
negative = a < 0

a[negative][0] = 16.0
print(a)

a[1:3][0] = 16.0
print(a)

a[negative] = 0.0
print(a)
