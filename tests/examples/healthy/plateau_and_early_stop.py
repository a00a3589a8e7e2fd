import copy
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, patience=1)
x, y = torch.randn(8, 2), torch.randn(8, 1)
best, best_state = float("inf"), None
for epoch in range(4):
    net.train()
    opt.zero_grad()
    loss = nn.functional.mse_loss(net(x[:6]), y[:6])
    loss.backward()
    opt.step()
    net.eval()
    with torch.no_grad():
        val = nn.functional.mse_loss(net(x[6:]), y[6:]).item()
    plateau.step(val)
    if val < best:
        best, best_state = val, copy.deepcopy(net.state_dict())
net.load_state_dict(best_state)
print(best)
