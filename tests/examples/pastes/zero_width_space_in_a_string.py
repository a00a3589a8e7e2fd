import torch
names = ['w​', 'b']
params = {n: torch.zeros(1) for n in names}
print(len(params))
