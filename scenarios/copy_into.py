import torch

row = torch.tensor([1.0, 2.0, 4.0], requires_grad=True)
table = torch.zeros(2, 3)
counts = torch.zeros(2, 3, dtype=torch.int64)

table.copy_(row)
counts.copy_(row)
print(table.requires_grad, counts.requires_grad)
holds = not table.requires_grad

table.sum().backward()
print(row.grad)
