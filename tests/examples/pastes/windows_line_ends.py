import torch
t = torch.tensor([[1, 2], [3, 4]])
row = t[0]
row[1] = 0
print(t)
