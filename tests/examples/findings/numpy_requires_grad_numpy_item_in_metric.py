# numpy_requires_grad: out
import numpy as np
import torch
from torch import nn
net = nn.Linear(2, 2)
correct = 0
for x in torch.ones(2, 1, 2):
    out = net(x)
    correct += np.argmax(out.numpy())  # cause
