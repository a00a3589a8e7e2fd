import torch

x = torch.arange(4.0).view(2, 2)
same = x.contiguous()
copied = x.t().contiguous()

x[0, 1] = 16.0
print(same is x)
print(copied)
