# integer_wrapped at 9: weights, int64
import torch
from torch import nn

torch.manual_seed(0)
embedding = nn.Embedding(6, 3)
ids = torch.tensor([1, 4, 2, 5])
weights = torch.softmax(torch.tensor([0.5, 0.1, -0.3, 0.2]), dim=0)
weights = weights.to(ids.dtype)
pooled = (embedding(ids) * weights[:, None]).sum(dim=0)
pooled.sum().backward()
print(pooled)
