# result_unused at 7: no_grad
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(2, 1)
torch.no_grad()
features = net(torch.ones(3, 2))
print(features.requires_grad)
