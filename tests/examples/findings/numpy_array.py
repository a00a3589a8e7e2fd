# numpy_requires_grad: w
import numpy as np
import torch
w = torch.ones(2, requires_grad=True)
a = np.array(w)  # cause
