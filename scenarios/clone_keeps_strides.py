import torch

x = torch.arange(6.0).view(2, 3)
turned = x.t()
copied = turned.clone()
packed = turned.contiguous()

copied[0, 1] = 16.0
print(turned.stride(), copied.stride(), packed.stride())
print(x)
kept = copied.stride() == turned.stride()
