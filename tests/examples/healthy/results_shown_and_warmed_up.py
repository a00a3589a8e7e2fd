import torch
from torch import nn

torch.manual_seed(0)
net = nn.LazyLinear(2)
net(torch.ones(1, 3))
net.to("cpu")
net.train()
x = torch.ones(2, 3, requires_grad=True)
net.zero_grad()
torch.manual_seed(1)
x.requires_grad_()
net(x).sum().backward()
x.grad.clamp_(-1, 1)
torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
torch.set_grad_enabled(True)
print(x.grad)
