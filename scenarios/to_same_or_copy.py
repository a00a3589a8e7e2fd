import torch

x = torch.tensor([1.0, 2.0, 4.0])
same = x.to(torch.float32)
wide = x.to(torch.float64)
forced = x.to(torch.float32, copy=True)

x[0] = 16.0
print(same is x, same)
print(wide)
print(forced)
