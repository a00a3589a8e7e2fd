import torch
from torch import nn
torch.manual_seed(0)
torch.backends.cudnn.deterministic = True
net = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.AdaptiveAvgPool2d(1)).cuda()
out = net(torch.randn(2, 3, 8, 8, device="cuda"))
out.sum().backward()
print(out.shape, net[0].weight.grad.shape, net[1].num_batches_tracked.item())
