# shared_memory at 8: grads[1], grad
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(2, 1)
model(torch.ones(3, 2)).sum().backward()
grads = [p.grad for p in model.parameters()]
model(torch.ones(3, 2)).pow(2).sum().backward()
print("change", [(g - p.grad).norm().item() for g, p in zip(grads, model.parameters())])
