# rate_jumps at 12: `opt`, base_rate, LambdaLR
import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR
torch.manual_seed(0)
given, wanted = torch.randn(24, 3), torch.randn(24, 1)
net = nn.Linear(3, 1)
base_rate = 0.02
opt = torch.optim.SGD(net.parameters(), lr=base_rate)
def rate_of(epoch):
    return base_rate if epoch < 4 else base_rate * 0.5
schedule = LambdaLR(opt, rate_of)
for epoch in range(6):
    opt.zero_grad()
    loss = nn.functional.mse_loss(net(given), wanted)
    loss.backward()
    opt.step()
    schedule.step()
print(f"{loss.item():.3f}")
