import torch
for i in range(2):
    t = torch.ones(1) * i
    print(t)
