import torch

x = torch.arange(6.0).view(2, 3)
t = x.t()
straight = t.contiguous()

straight[0, 0] = 16.0
print(straight.view(6))
print(x)

print(t.is_contiguous())
t.view(6)
