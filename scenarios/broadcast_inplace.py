import torch

table = torch.zeros(2, 3)
row = torch.tensor([1.0, 2.0, 4.0])

table += row
print(table)

total = row + table
print(total.shape)

row += table
