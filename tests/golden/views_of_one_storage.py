import torch

m = torch.arange(6.0).view(2, 3)
t = m.t()
row = m[1]
wide = m[:, :1].expand(2, 4)
row[0] = 9
bits = row.view(torch.int32)
