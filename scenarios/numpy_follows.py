import numpy as np
import torch

array = np.array([1.0, 2.0, 4.0])
shared = torch.from_numpy(array)
copied = torch.tensor(array)

array[0] = 8.0
print(shared)
print(copied)

shared = shared + 1
array[1] = 16.0
print(shared)
