import torch
from torch import nn
torch.manual_seed(0)
conv = nn.Conv2d(1, 2, 3).requires_grad_(False)
target = conv(torch.rand(1, 1, 6, 6))
image = torch.rand(1, 1, 6, 6, requires_grad=True)
opt = torch.optim.LBFGS([image], max_iter=2)
def closure():
    opt.zero_grad()
    loss = (conv(image) - target).pow(2).mean()
    loss.backward()
    return loss
for _ in range(2):
    opt.step(closure)
with torch.no_grad():
    image.clamp_(0, 1)
