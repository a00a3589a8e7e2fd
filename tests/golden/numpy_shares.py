import numpy as np
import torch

n = np.arange(3.0)
t = torch.from_numpy(n)
n[0] = 4
t[1:] *= 2
