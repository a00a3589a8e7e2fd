# zero_gradient at 14: score.weight.grad
import torch
from torch import nn


class Pool(nn.Module):
    def __init__(self):
        super().__init__()
        self.score = nn.Linear(3, 1, bias=False)
        self.out = nn.Linear(3, 2)

    def forward(self, tokens):
        scores = self.score(tokens)
        weights = scores.softmax(-1)
        return self.out((weights * tokens).sum(1))


torch.manual_seed(0)
net = Pool()
x, y = torch.randn(4, 5, 3), torch.randint(0, 2, (4,))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    optimizer.step()
