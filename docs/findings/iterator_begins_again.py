# iterator_begins_again at 12: `loader`
import torch
from torch import nn

torch.manual_seed(0)

from torch.utils.data import DataLoader, TensorDataset
loader = DataLoader(TensorDataset(torch.randn(24, 3), torch.randn(24, 1)), batch_size=6)
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    given, wanted = next(iter(loader))
    opt.zero_grad()
    nn.functional.mse_loss(net(given), wanted).backward()
    opt.step()
