# index_copy at 5: w
import torch
w = torch.ones(4)
keep = torch.tensor([True, False, True, False])
w[keep].mul_(3)
print(w.sum())
