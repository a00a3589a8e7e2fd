import torch
import numpy as np
from torch import nn
import torch.nn.functional as F
import math
layer = nn.Linear(2, 1)
out = F.relu(layer(torch.from_numpy(np.ones((1, 2), dtype='float32'))))
out.sum().backward()
print(layer.bias.grad.shape, math.isnan(out.item()))
