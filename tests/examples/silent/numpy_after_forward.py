# wrong_gradient at 8: arr
import numpy as np
import torch
arr = np.ones(3, dtype=np.float32)
x = torch.from_numpy(arr)
w = torch.full((3,), 2.0, requires_grad=True)
loss = (w * x).sum()
arr[:] = 5
loss.backward()
print(w.grad)
