# index_copy at 5: table
import torch
table = torch.zeros(3, 3)
rows, cols = torch.tensor([0, 1]), torch.tensor([1, 2])
table[rows][:, cols] = 1.0
print(table)
