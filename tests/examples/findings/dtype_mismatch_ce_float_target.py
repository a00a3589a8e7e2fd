# dtype_mismatch: target
import torch
from torch import nn
model = nn.Linear(2, 3)
target = torch.tensor([0.0, 2.0])  # cause
loss = nn.CrossEntropyLoss()(model(torch.ones(2, 2)), target)  # cause
loss.backward()
