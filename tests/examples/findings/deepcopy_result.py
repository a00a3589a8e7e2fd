# deepcopy_nonleaf: y
import copy
import torch
x = torch.ones(2, requires_grad=True)
y = x * 2  # cause
z = copy.deepcopy(y)  # cause
