import torch

n = torch.nn.Linear(1, 1)

n.weight.data.fill_(2)
print(n.weight.item())
