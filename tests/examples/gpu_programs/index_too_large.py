import torch
table = torch.ones(5, 2, device="cuda")
rows = torch.tensor([1, 7], device="cuda")
picked = table[rows]
total = picked.sum()
print(total.item())
