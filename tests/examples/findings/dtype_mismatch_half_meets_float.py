# dtype_mismatch: x
import torch
from torch import nn
net = nn.Linear(2, 1).half()
x = torch.ones(1, 2)
print(net(x))  # cause
