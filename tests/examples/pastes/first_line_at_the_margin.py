import torch
a = torch.arange(4.)
b = a[1:3]
b += 10
print(a)