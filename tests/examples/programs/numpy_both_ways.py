# from_numpy and numpy() share, tensor() copies.
import numpy as np
import torch
array = np.zeros(3)
shared = torch.from_numpy(array)
copied = torch.tensor(array)
shared[0] = 4
array[1] += 2
back = np.asarray(shared)
back[2] = 8
print(array, shared, copied, shared.numpy() is array)
