import numpy as np
import torch

array = np.array([1.0, 2.0, 4.0])
shared = torch.from_numpy(array)
narrow = torch.as_tensor(array, dtype=torch.float32)
copied = torch.tensor(array)

array[0] = 16.0
print(shared)
print(narrow)
print(copied)
