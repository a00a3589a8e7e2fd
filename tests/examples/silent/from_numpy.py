# shared_memory at 6: t, arr
import numpy as np
import torch
arr = np.zeros(3)
t = torch.from_numpy(arr)
arr[0] = 5
print(t)
