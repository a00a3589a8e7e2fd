# expanded_inplace: b
import torch
a = torch.arange(3.0)
b = torch.broadcast_to(a, (2, 3))  # cause
b[:, 0] += 5  # cause
