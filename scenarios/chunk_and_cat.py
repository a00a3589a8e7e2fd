import torch

x = torch.arange(6.0)
left, right = x.chunk(2)
joined = torch.cat([left, right])

left.zero_()
right[0] = 16.0
print(x)
print(joined)
