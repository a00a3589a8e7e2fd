import torch
from torch import nn

logits = torch.tensor([[0.2, 0.8], [1.5, -0.5]], requires_grad=True)
labels = torch.tensor([1.0, 0.0])[:, None]
loss = nn.functional.nll_loss(logits.log_softmax(1), labels[:, 0])
loss.backward()
