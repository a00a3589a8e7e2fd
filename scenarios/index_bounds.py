import torch

x = torch.tensor([1.0, 2.0, 4.0])
last = x[-1]
print(last, len(x))

rows = x.view(3, 1)
print(rows.sum(-1))
x[3]
