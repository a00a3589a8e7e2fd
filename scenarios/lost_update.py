import torch

w = torch.tensor([256.0, 2.0], dtype=torch.bfloat16)
update = torch.tensor([0.5, 0.5], dtype=torch.bfloat16)

for step in range(4):
    w = w + update

print(w)
