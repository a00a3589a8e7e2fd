# numpy_requires_grad: out
import numpy as np
import torch
from torch import nn
out = nn.Linear(2, 1)(torch.ones(1, 2))
print(np.asarray(out))  # cause
