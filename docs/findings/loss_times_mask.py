# loss_times_mask at 12: `mask`
import torch
from torch import nn

torch.manual_seed(0)
class MaskedMSE(nn.Module):
    def __init__(self):
        super().__init__()
        self.mse = nn.MSELoss()
    def forward(self, pred, target, mask):
        loss = self.mse(pred, target)
        return torch.sum(loss * mask) / torch.sum(mask)
net, criterion = nn.Linear(5, 4), MaskedMSE()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(6, 5), torch.randn(6, 4)
mask = (torch.rand(6, 4) > 0.4).float()
for step in range(3):
    loss = criterion(net(x), y, mask)

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
