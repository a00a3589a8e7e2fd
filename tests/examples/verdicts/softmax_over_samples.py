import torch
from torch import nn

torch.manual_seed(0)
logits = torch.tensor([[1.0, 2.0], [3.0, 0.5], [0.1, 0.2]], requires_grad=True)
probabilities = logits.softmax(dim=0)
labels = torch.tensor([0, 1, 0])
loss = nn.functional.nll_loss(probabilities.log(), labels)
loss.backward()
