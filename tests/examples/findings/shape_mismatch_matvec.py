# shape_mismatch: W
import torch
W = torch.randn(3, 4)  # cause
x = torch.randn(3)
print(W @ x)  # cause
