import numpy as np
import torch

np.random.seed(0)
torch.manual_seed(0)
states = torch.randn(8, 2)
indices = np.arange(8)
for epoch in range(2):
    np.random.shuffle(indices)
    for start in range(0, 8, 4):
        chosen = indices[start : start + 4]
        print(epoch, states[chosen].mean().item())
