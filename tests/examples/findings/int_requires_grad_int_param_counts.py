# int_requires_grad: counts
import numpy as np
import torch
counts = torch.from_numpy(np.array([1, 2, 3]))  # cause
counts.requires_grad = True  # cause
y = (counts ** 2).sum()
y.backward()
