import torch
from torch import nn
torch.manual_seed(0)
net, opt_losses, avg = nn.Linear(2, 1), [], 0.0
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(4):
    loss = net(torch.randn(3, 2)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    opt_losses.append(loss.item())
    avg = 0.9 * avg + 0.1 * loss.detach()
print(opt_losses, float(avg))
