# dtype_mismatch: y
import torch
from torch import nn
import torch.nn.functional as F
model = nn.Linear(2, 1)
y = torch.tensor([[0], [1], [1]])  # cause
loss = F.binary_cross_entropy_with_logits(model(torch.ones(3, 2)), y)  # cause
loss.backward()
