# dtype_mismatch: x
import numpy as np
import torch
x = torch.from_numpy(np.ones((2, 3)))  # cause
net = torch.nn.Linear(3, 1)
net(x)  # cause
