# shape_mismatch: target
import torch
from torch import nn
logits = torch.randn(8, 5, requires_grad=True)
target = torch.zeros(4, dtype=torch.long)  # cause
loss = nn.CrossEntropyLoss()(logits, target)  # cause
loss.backward()
