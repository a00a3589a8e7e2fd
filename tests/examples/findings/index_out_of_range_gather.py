# index_out_of_range: scores idx
import torch
scores = torch.randn(2, 3)
idx = torch.tensor([[0], [3]])
picked = scores.gather(1, idx)  # cause
