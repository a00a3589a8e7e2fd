# dtype_mismatch: x
import torch
x = torch.arange(4)  # cause
x.mean()  # cause
