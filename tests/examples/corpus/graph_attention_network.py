"""A graph attention layer with scatter operations, on Zachary-like clubs."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(2)

edges = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3), (4, 5), (4, 6), (5, 6), (5, 7), (6, 7), (3, 4)]
n = 8
edge_index = torch.tensor(edges).t()
edge_index = torch.cat([edge_index, edge_index.flip(0), torch.arange(n).repeat(2, 1)], dim=1)
labels = torch.tensor([0, 0, 0, 0, 1, 1, 1, 1])
train_mask = torch.zeros(n, dtype=torch.bool)
train_mask[[0, 7]] = True
features = torch.eye(n)


def segment_softmax(scores, index, n):
    top = scores.new_full((n, scores.size(1)), float("-inf"))
    top = top.scatter_reduce(0, index[:, None].expand_as(scores), scores, reduce="amax")
    exp = (scores - top[index]).exp()
    total = torch.zeros(n, scores.size(1)).index_add(0, index, exp)
    return exp / (total[index] + 1e-16)


class GATConv(nn.Module):
    def __init__(self, fan_in, fan_out, heads=2, concat=True):
        super().__init__()
        self.heads, self.fan_out, self.concat = heads, fan_out, concat
        self.lin = nn.Linear(fan_in, heads * fan_out, bias=False)
        self.att_src = nn.Parameter(torch.empty(1, heads, fan_out))
        self.att_dst = nn.Parameter(torch.empty(1, heads, fan_out))
        self.bias = nn.Parameter(torch.zeros(heads * fan_out if concat else fan_out))
        nn.init.xavier_uniform_(self.lin.weight)
        nn.init.xavier_uniform_(self.att_src)
        nn.init.xavier_uniform_(self.att_dst)

    def forward(self, x, edge_index):
        src, dst = edge_index
        h = self.lin(x).view(-1, self.heads, self.fan_out)
        score = (h * self.att_src).sum(-1)[src] + (h * self.att_dst).sum(-1)[dst]
        alpha = segment_softmax(F.leaky_relu(score, 0.2), dst, x.size(0))
        out = torch.zeros_like(h).index_add_(0, dst, h[src] * alpha.unsqueeze(-1))
        out = out.flatten(1) if self.concat else out.mean(1)
        return out + self.bias, alpha


class GAT(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = GATConv(n, 4, heads=2)
        self.conv2 = GATConv(8, 2, heads=1, concat=False)

    def forward(self, x, edge_index):
        x, _ = self.conv1(x, edge_index)
        return self.conv2(F.elu(x), edge_index)


model = GAT()
optimizer = torch.optim.Adam(model.parameters(), lr=0.05, weight_decay=5e-4)
for epoch in range(8):
    model.train()
    optimizer.zero_grad()
    out, alpha = model(features, edge_index)
    loss = F.cross_entropy(out[train_mask], labels[train_mask])
    loss.backward()
    optimizer.step()
    accuracy = (out.argmax(1) == labels).float().mean().item()
    print(f"{epoch} loss {loss.item():.4f} accuracy {accuracy:.2f}")

sums = torch.zeros(n).scatter_add_(0, edge_index[1], alpha[:, 0].detach())
print("attention of each node sums to one:", torch.allclose(sums, torch.ones(n)))
degree = torch.bincount(edge_index[1], minlength=n)
adjacency = torch.sparse_coo_tensor(edge_index, torch.ones(edge_index.size(1)), (n, n)).coalesce()
print(degree.tolist(), torch.equal(torch.sparse.sum(adjacency, 0).to_dense().long(), degree))
propagated = torch.sparse.mm(adjacency, features) / degree[:, None]
print(propagated[0])
