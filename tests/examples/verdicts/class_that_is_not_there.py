import torch
from torch import nn

logits = torch.tensor([[0.2, 0.8], [1.5, -0.5]], requires_grad=True)
labels = torch.tensor([1, 2])
loss = nn.functional.cross_entropy(logits, labels)
loss.backward()
