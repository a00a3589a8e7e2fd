import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel
torch.manual_seed(0)
net = nn.Linear(2, 1)
swa = AveragedModel(net)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    opt.zero_grad()
    net(torch.randn(4, 2)).pow(2).mean().backward()
    opt.step()
    swa.update_parameters(net)
print(swa(torch.ones(1, 2)))
