# never_equal at 12: `guess`, `kinds`
import torch
from torch import nn

torch.manual_seed(0)

net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
things, kinds = torch.randn(12, 4), torch.randint(0, 3, (12,))
for _ in range(3):
    scores = net(things)
    guess = scores.max(dim=1).values
    right = (guess == kinds).sum().item()
    opt.zero_grad()
    nn.functional.cross_entropy(scores, kinds).backward()
    opt.step()
    print(right)
