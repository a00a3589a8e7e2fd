import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR

torch.manual_seed(0)
given, wanted = torch.randn(24, 3), torch.randn(24, 1)
net = nn.Linear(3, 1)
lr, warm_up = 0.1, 10
opt = torch.optim.SGD(net.parameters(), lr=lr)
schedule = LambdaLR(opt, lambda epoch: min(1.0, (epoch + 1) / warm_up))
for epoch in range(14):
    opt.zero_grad()
    loss = nn.functional.mse_loss(net(given), wanted)
    loss.backward()
    opt.step()
    schedule.step()
print(f"{loss.item():.3f}")
