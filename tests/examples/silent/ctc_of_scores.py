# loss_below_zero at 11: `scores`, ctc_loss
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(6, 5)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, words = torch.randn(10, 3, 6), torch.randint(1, 5, (3, 4))
for _ in range(3):
    scores = net(x)
    loss = nn.functional.ctc_loss(scores, words, torch.full((3,), 10), torch.full((3,), 4))
    opt.zero_grad()
    loss.backward()
    opt.step()
