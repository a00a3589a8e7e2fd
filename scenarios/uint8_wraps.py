import torch

before = torch.tensor([3, 200], dtype=torch.uint8)
after = torch.tensor([5, 100], dtype=torch.uint8)
change = before - after
print(change)

wide = before.int() - after.int()
print(wide)
