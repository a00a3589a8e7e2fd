# module_flag at 10: state_dict, optimizer, lr
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
x, y = torch.randn(12, 5), torch.randn(12, 1)
for epoch in range(4):
    for group in optimizer.state_dict()['param_groups']:
        group['lr'] *= 0.5
    optimizer.zero_grad()
    nn.functional.l1_loss(net(x), y).backward()
    optimizer.step()
