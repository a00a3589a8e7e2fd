# dtype_mismatch: idx
import torch
emb = torch.nn.Embedding(4, 2)
idx = torch.tensor([0.0, 1.0])  # cause
emb(idx)  # cause
