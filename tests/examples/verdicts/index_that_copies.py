import torch

table = torch.zeros(4)
table[[0, 2]].add_(1.0)
print(table)
