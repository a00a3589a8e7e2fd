import torch
a = torch.zeros(3, 4, device="cuda")
row, column = a[1], a[:, 2]
row.fill_(5)
column.add_(1)
wide = torch.arange(3.0, device="cuda").expand(4, 3)
print(a, row, wide.stride(), a._version)
