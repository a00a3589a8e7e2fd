# dtype_mismatch: x
import numpy as np
import torch
from torch import nn
data = np.array([[0.1, 0.2], [0.3, 0.4]])
x = torch.from_numpy(data)  # cause
model = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 1))
print(model(x))  # cause
