import torch

x = torch.zeros(2, 2)
row = x[0]
flat = x.view(4)
copied = x.clone()

row.add_(1)
flat[3] = 8.0
copied.zero_()
print(x._version, row._version, flat._version, copied._version)
print(x)
