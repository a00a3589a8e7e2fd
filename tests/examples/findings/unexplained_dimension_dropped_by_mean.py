# unexplained_error: pooled mean (8,) (4, 8)
import torch
hidden = torch.randn(4, 8)
pooled = hidden.mean(0)
weights = torch.softmax(pooled, dim=1)  # cause
