import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


class GraphConv(nn.Module):
    def __init__(self, inside, outside):
        super().__init__()
        self.own, self.neighbours = nn.Linear(inside, outside), nn.Linear(inside, outside, bias=False)

    def forward(self, x, edges):
        source, target = edges
        messages = self.neighbours(x)[source]
        summed = torch.zeros(x.size(0), messages.size(1)).index_add(0, target, messages)
        degree = torch.zeros(x.size(0)).scatter_add_(0, target, torch.ones(len(target))).clamp(min=1)
        return self.own(x) + summed / degree[:, None]


class GNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.convs = nn.ModuleList([GraphConv(3, 6), GraphConv(6, 6), GraphConv(6, 4)])
        self.norms = nn.ModuleList([nn.LayerNorm(6), nn.LayerNorm(6)])

    def forward(self, x, edges):
        for conv, norm in zip(self.convs, self.norms):
            x = F.relu(norm(conv(x, edges)))
        return self.convs[-1](x, edges)


model = GNN()
edges = torch.tensor([[0, 1, 2, 3, 4, 0], [1, 2, 3, 4, 0, 2]])
x, y = torch.randn(5, 3), torch.tensor([0, 1, 2, 3, 0])
opt = torch.optim.Adam(model.parameters(), weight_decay=5e-4)
for epoch in range(2):
    out = model(x, edges)
    loss = F.nll_loss(F.log_softmax(out, dim=1), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
