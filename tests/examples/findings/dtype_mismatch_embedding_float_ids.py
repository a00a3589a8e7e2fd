# dtype_mismatch: ids
import torch
from torch import nn
ids = torch.tensor([1.0, 2.0])
emb = nn.Embedding(4, 2)
print(emb(ids))  # cause
