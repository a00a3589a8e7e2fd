import torch
from torch import nn
import torch.nn.functional as F
model = nn.Linear(2, 1)
y = torch.tensor([[0.0], [1.0], [1.0]])
loss = F.binary_cross_entropy_with_logits(model(torch.ones(3, 2)), y)
loss.backward()
