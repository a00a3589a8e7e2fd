# dtype_mismatch: n
import torch
n = torch.zeros(2, dtype=torch.long)  # cause
n += torch.rand(2)  # cause
