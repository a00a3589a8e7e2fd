import torch
from torch import nn
torch.manual_seed(0)
model = nn.Linear(4, 2)
model.requires_grad_(False)
x, y = torch.rand(1, 4), torch.tensor([1])
adv = x.clone()
for _ in range(3):
    adv = adv.detach().requires_grad_()
    loss = nn.functional.cross_entropy(model(adv), y)
    loss.backward()
    adv = (adv + 0.05 * adv.grad.sign()).clamp(0, 1)
print((adv - x).abs().max())
