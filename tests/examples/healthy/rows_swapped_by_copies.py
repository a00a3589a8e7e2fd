import torch

table = torch.arange(6.0).reshape(3, 2)
table[[0, 2]] = table[[2, 0]]
table[0], table[1] = table[1].clone(), table[0].clone()
rows = list(table.unbind())
rows[0], rows[1] = rows[1], rows[0]
table[:, :1].copy_(table[:, 1:])
print(table, rows)
