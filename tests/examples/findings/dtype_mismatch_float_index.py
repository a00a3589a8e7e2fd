# dtype_mismatch: idx
import torch
scores = torch.randn(4, 3)
idx = torch.tensor([0.0, 2.0, 1.0, 1.0])  # cause
picked = scores.gather(1, idx.unsqueeze(1))  # cause
print(picked)
