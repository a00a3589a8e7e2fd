import torch
q = torch.full((2,), 7)
q.sum()
del q
