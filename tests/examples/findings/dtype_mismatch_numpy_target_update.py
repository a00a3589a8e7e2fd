# dtype_mismatch: float64 net.weight
import numpy as np
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Linear(3, 2)
states = np.random.rand(4, 3)
q = net(torch.from_numpy(states))  # cause
print(q)
