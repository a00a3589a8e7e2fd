import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 3)
x = torch.rand(2, 4, requires_grad=True)
loss = nn.functional.cross_entropy(model(x), torch.tensor([0, 2]))
loss.backward()
attacked = (x + 0.1 * x.grad.sign()).clamp(0, 1).detach()
print(model(attacked).argmax(1))
