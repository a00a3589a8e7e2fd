# grad_none: image
import torch
from torch import nn
model = nn.Linear(4, 2)
image = torch.rand(1, 4)  # cause
loss = nn.functional.cross_entropy(model(image), torch.tensor([1]))
loss.backward()
adv = image + 0.1 * image.grad.sign()
