# index_out_of_range: target scores
import torch
import torch.nn.functional as F
scores = torch.randn(4, 3, requires_grad=True)
target = torch.tensor([0, 1, 2, 3])
loss = F.cross_entropy(scores, target)  # cause
loss.backward()
