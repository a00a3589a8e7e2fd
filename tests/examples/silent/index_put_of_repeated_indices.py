# index_copy at 7: table, rows
import torch
torch.manual_seed(0)
rows = torch.randn(3, 2, requires_grad=True)
where = torch.tensor([1, 1, 0])
table = torch.zeros(4, 2)
table[where] = rows
table.sum().backward()
print(rows.grad)
