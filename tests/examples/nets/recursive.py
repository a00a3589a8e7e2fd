import torch
from torch import nn

torch.manual_seed(0)


class Tree(nn.Module):
    """A module that calls itself, over nested lists."""

    def __init__(self, d):
        super().__init__()
        self.leaf, self.join, self.act = nn.Embedding(8, d), nn.Linear(2 * d, d), nn.Tanh()
        self.gates = {"left": nn.Linear(d, d), "right": nn.Linear(d, d)}

    def forward(self, tree):
        if isinstance(tree, int):
            return self.leaf(torch.tensor(tree))
        left, right = map(self, tree)
        return self.act(self.join(torch.cat([self.gates["left"](left), self.gates["right"](right)])))


tree = Tree(5)
scale = lambda x: torch.sigmoid(x) * 2
opt = torch.optim.SGD(tree.parameters(), lr=0.1)
for _ in range(2):
    loss = scale(tree([[1, 2], [3, [4, 5]]])).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
