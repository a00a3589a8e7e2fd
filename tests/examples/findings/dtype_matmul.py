# dtype_mismatch: b
import torch
a = torch.rand(2, 2)
b = torch.ones(2, 2, dtype=torch.float64)  # cause
a @ b  # cause
