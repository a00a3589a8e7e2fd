# resize_ below and above what the storage holds, with a view left behind.
import torch
x = torch.arange(4.0)
front = x[:2]
x.resize_(2)
print(x, x.untyped_storage().nbytes())
x.resize_(2, 4).zero_()
front[0] = 8
print(x)
